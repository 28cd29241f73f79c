//! The keys of the live view.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// End the view.
    Quit,
    /// So many rows down, or up.
    Move(isize),
    /// The first row, or the last.
    End(bool),
    /// Follow what runs again.
    Follow,
    /// Draw everything anew: the window has another size, or something wrote over it.
    Redraw,
}

/// What an event of the terminal asks for.
pub(super) fn act(event: &Event) -> Option<Act> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(key),
        Event::Resize(..) => Some(Act::Redraw),
        _ => None,
    }
}

fn pressed(key: &KeyEvent) -> Option<Act> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Act::Quit),
        KeyCode::Char('l') if control => Some(Act::Redraw),
        _ if control => None,
        KeyCode::Char('q') | KeyCode::Esc => Some(Act::Quit),
        KeyCode::Char('j') | KeyCode::Down => Some(Act::Move(1)),
        KeyCode::Char('k') | KeyCode::Up => Some(Act::Move(-1)),
        KeyCode::PageDown => Some(Act::Move(10)),
        KeyCode::PageUp => Some(Act::Move(-10)),
        KeyCode::Char('g') | KeyCode::Home => Some(Act::End(false)),
        KeyCode::Char('G') | KeyCode::End => Some(Act::End(true)),
        KeyCode::Char('f') => Some(Act::Follow),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_meaning_and_others_have_none() {
        let none = KeyModifiers::NONE;
        let control = KeyModifiers::CONTROL;
        for (code, modifiers, expected) in [
            (KeyCode::Char('q'), none, Some(Act::Quit)),
            (KeyCode::Esc, none, Some(Act::Quit)),
            (KeyCode::Char('c'), control, Some(Act::Quit)),
            (KeyCode::Char('c'), none, None),
            (KeyCode::Char('q'), control, None),
            (KeyCode::Char('l'), control, Some(Act::Redraw)),
            (KeyCode::Char('j'), none, Some(Act::Move(1))),
            (KeyCode::Down, none, Some(Act::Move(1))),
            (KeyCode::Char('k'), none, Some(Act::Move(-1))),
            (KeyCode::Up, none, Some(Act::Move(-1))),
            (KeyCode::PageDown, none, Some(Act::Move(10))),
            (KeyCode::PageUp, none, Some(Act::Move(-10))),
            (KeyCode::Home, none, Some(Act::End(false))),
            (KeyCode::Char('G'), KeyModifiers::SHIFT, Some(Act::End(true))),
            (KeyCode::Char('f'), none, Some(Act::Follow)),
            (KeyCode::Enter, none, None),
            (KeyCode::Char('x'), none, None),
        ] {
            assert_eq!(act(&Event::Key(KeyEvent::new(code, modifiers))), expected, "{code:?} {modifiers:?}");
        }
        assert_eq!(act(&Event::Resize(1, 1)), Some(Act::Redraw));
        assert_eq!(act(&Event::FocusGained), None);
        let released = KeyEvent::new_with_kind(KeyCode::Char('q'), none, KeyEventKind::Release);
        assert_eq!(act(&Event::Key(released)), None);
    }
}
