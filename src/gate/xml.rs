//! Small XML documents as a tree: POMs and reports of tests.
//!
//! Bounded in size, depth and count; entities other than XML's own five and character references
//! are left out, a DOCTYPE is refused.

use crate::gate::commands::read_text;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;
use std::path::Path;

/// The bytes of a document.
pub(crate) const MAX_BYTES: u64 = 32 << 20;
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 500_000;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its name as it is written: `dependency:properties` names properties with colons in them.
    pub(crate) name: String,
    /// Its own text, trimmed.
    pub(crate) text: String,
    /// Its elements.
    pub(crate) children: Vec<Node>,
}

impl Node {
    /// The first element at the end of a way of names.
    pub(crate) fn element_at(&self, way: &[&str]) -> Option<&Self> {
        way.iter().try_fold(self, |node, name| {
            node.children.iter().find(|child| child.name == *name)
        })
    }

    /// The text at the end of a way of names, when there is any.
    pub(crate) fn text_at(&self, way: &[&str]) -> Option<&str> {
        self.element_at(way)
            .map(|node| node.text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// True if this holds of the element or of one anywhere below.
    pub(crate) fn any_below(&self, holds: &dyn Fn(&Self) -> bool) -> bool {
        holds(self) || self.children.iter().any(|child| child.any_below(holds))
    }

    /// The children of the element at the end of a way of names.
    pub(crate) fn children_at(&self, way: &[&str]) -> &[Self] {
        self.element_at(way).map_or(&[], |node| &node.children)
    }
}

/// Reads a file; `None` if it is not a complete XML document within the limits.
pub(crate) fn read_file(path: &Path) -> Option<Node> {
    parse_xml(&read_text(path, MAX_BYTES))
}

/// Reads a text; `None` if it is not a complete XML document within the limits.
pub(crate) fn parse_xml(text: &str) -> Option<Node> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<Node> = vec![Node::default()];
    let mut nodes = 0;
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                nodes += 1;
                if open.len() > MAX_DEPTH || nodes > MAX_NODES {
                    return None;
                }
                let name = tag.name().into_inner().to_owned();
                open.push(Node {
                    name,
                    ..Node::default()
                });
            }
            Event::End(_) => {
                let mut node = open.pop()?;
                node.text = node.text.trim().into();
                open.last_mut()?.children.push(node);
            }
            Event::Text(text) => open.last_mut()?.text.push_str(&text),
            Event::CData(text) => open.last_mut()?.text.push_str(&text),
            Event::GeneralRef(entity) => {
                let own = resolve_xml_entity(&entity).and_then(|text| text.chars().next());
                let named = own.or_else(|| entity.resolve_char_ref().ok().flatten());
                open.last_mut()?.text.extend(named);
            }
            Event::DocType(_) => return None,
            Event::Eof => break,
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::Empty(_) => {}
        }
    }
    let mut roots = (open.len() == 1).then(|| open.pop()).flatten()?.children;
    (roots.len() == 1).then(|| roots.pop()).flatten()
}

#[cfg(test)]
mod tests {
    use super::parse_xml;

    #[test]
    fn a_way_of_names_leads_to_a_text_with_its_entities() {
        let pom = "<?xml version='1.0'?><!-- x --><project xmlns='u'><build><a> x &lt;&#65;&unknown; </a><b/><g.h:i:jar>j</g.h:i:jar></build></project>";
        let root = parse_xml(pom).unwrap();
        assert_eq!(
            (root.name.as_str(), root.text_at(&["build", "a"])),
            ("project", Some("x <A"))
        );
        assert_eq!(root.text_at(&["build", "b"]), None);
        assert_eq!(root.text_at(&["build", "g.h:i:jar"]), Some("j"));
        assert_eq!(root.children_at(&["build"]).len(), 3);
    }

    #[test]
    fn what_is_cut_or_has_a_doctype_or_is_too_deep_is_no_document() {
        let whole = "<a><b>t</b></a>";
        for end in 0..whole.len() {
            assert!(parse_xml(&whole[..end]).is_none(), "{end}");
        }
        assert!(parse_xml("<!DOCTYPE a><a/>").is_none());
        assert!(parse_xml("<a/><b/>").is_none());
        assert!(parse_xml(&("<a>".repeat(99) + &"</a>".repeat(99))).is_none());
    }
}
