//! Slots for checks and gates: main and its lanes share the processors, and a test that passes alone can fail under load.

use super::{LOOK, folder_of};
use crate::engine::Fault;
use crate::engine::outside::Outside;
use crate::sys::clock;
use crate::sys::lock::Lock;

/// Permission to run a heavy command, given back when dropped.
pub(in crate::engine::outside) struct HeavySlot {
    _lock: Option<Lock>,
}

impl Outside {
    /// Waits until one of `lanes.heavy` slots is free. `None` if ralph ends meanwhile.
    ///
    /// Without lanes, and with `lanes.heavy: 0`, there is no limit.
    pub(in crate::engine::outside) fn take_heavy_slot(&self) -> Result<Option<HeavySlot>, Fault> {
        let slots = self.parts.settings.lanes.heavy;
        let main = match self.lane_of() {
            Some(main) => main,
            None if self.lanes.has_started => &self.parts.places.workspace,
            None => return Ok(Some(HeavySlot { _lock: None })),
        };
        let folder = folder_of(&self.parts.cache, "slots", main);
        // A run whose time is up ends at its own limits.
        while slots > 0 && !self.wall_left().is_zero() {
            for slot in 1..=slots {
                if let Some(lock) = Lock::try_take(&folder.join(slot.to_string()))? {
                    return Ok(Some(HeavySlot { _lock: Some(lock) }));
                }
            }
            if self.parts.interrupts.first().is_some() {
                return Ok(None);
            }
            self.parts.interrupts.wait_until(clock::monotonic() + LOOK);
        }
        Ok(Some(HeavySlot { _lock: None }))
    }
}
