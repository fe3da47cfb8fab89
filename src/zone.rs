//! The local time zone, captured on the editor's main thread.
//!
//! The zone depends on the environment (`TZ`), which no other thread may read (see [`crate::environ`]), and nothing
//! that is replayed may depend on it. So runs store instants, and code that displays a time takes the zone from here.

use crate::sync::locked;
use chrono::{DateTime, FixedOffset, Local, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use std::sync::Mutex;

/// How far ahead to search for a clock change; longer than any accepted limit.
const AHEAD: TimeDelta = TimeDelta::days(40);

static SEEN: Mutex<Option<Zone>> = Mutex::new(None);

/// The offset from UTC, now and after the next clock change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    offset: FixedOffset,
    change: Option<(DateTime<Utc>, FixedOffset)>,
}

/// Captures the current zone. Call it on the editor's main thread only.
pub fn capture() {
    *locked(&SEEN) = Some(Zone::read(Utc::now()));
}

/// The last capture, or else the current zone.
pub fn current() -> Zone {
    let seen = *locked(&SEEN);
    seen.unwrap_or_else(|| Zone::read(Utc::now()))
}

impl Zone {
    fn read(now: DateTime<Utc>) -> Self {
        Self::of(now, |at| Local.offset_from_utc_datetime(&at.naive_utc()).fix())
    }

    /// Builds the zone from a function that returns the offset at a time.
    fn of(now: DateTime<Utc>, offset: impl Fn(DateTime<Utc>) -> FixedOffset) -> Self {
        let (mut before, mut after) = (now, now + AHEAD);
        let here = offset(now);
        if offset(after) == here {
            return Self { offset: here, change: None };
        }
        while after - before > TimeDelta::seconds(1) {
            let middle = before + (after - before) / 2;
            *(if offset(middle) == here { &mut before } else { &mut after }) = middle;
        }
        // Clocks change at a whole second, the first one that no longer has the current offset.
        let at = DateTime::from_timestamp(after.timestamp(), 0).unwrap_or(after);
        Self { offset: here, change: Some((at, offset(after))) }
    }

    fn offset(&self, at: DateTime<Utc>) -> FixedOffset {
        self.change.filter(|(change, _)| at >= *change).map_or(self.offset, |(_, offset)| offset)
    }

    /// An instant in local time.
    pub fn local(&self, at: DateTime<Utc>) -> DateTime<FixedOffset> {
        at.with_timezone(&self.offset(at))
    }

    /// The instant of a local time; the earlier one if there are two.
    pub fn utc(&self, shown: NaiveDateTime) -> Option<DateTime<Utc>> {
        let offsets = [Some(self.offset), self.change.map(|(_, offset)| offset)];
        let times = offsets.into_iter().flatten().filter_map(|it| it.from_local_datetime(&shown).single());
        times.map(|at| at.to_utc()).filter(|at| self.local(*at).naive_local() == shown).min()
    }

    /// The time of day, with the date if it is not today.
    pub fn clock(&self, at: DateTime<Utc>, now: DateTime<Utc>) -> String {
        let (at, now) = (self.local(at), self.local(now));
        let format = if at.date_naive() == now.date_naive() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
        at.format(format).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    fn shown(text: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap()
    }

    /// Berlin around the last Sunday of October 2026, when three o'clock becomes two.
    fn autumn() -> (Zone, DateTime<Utc>) {
        let change = at("2026-10-25T01:00:00Z");
        let hours = move |at| FixedOffset::east_opt(3600 * if at < change { 2 } else { 1 }).unwrap();
        (Zone::of(at("2026-10-20T07:13:21.5Z"), hours), change)
    }

    #[test]
    fn a_clock_change_is_found_to_the_second() {
        let (zone, change) = autumn();
        assert_eq!(zone.change.map(|(at, _)| at), Some(change));
        assert_eq!(zone.local(at("2026-10-24T12:00:00Z")).naive_local(), shown("2026-10-24 14:00"));
        assert_eq!(zone.local(at("2026-10-26T12:00:00Z")).naive_local(), shown("2026-10-26 13:00"));
        let fixed = FixedOffset::west_opt(5 * 3600).unwrap();
        assert_eq!(Zone::of(change, |_| fixed), Zone { offset: fixed, change: None });
    }

    #[test]
    fn local_times_convert_to_utc_around_a_clock_change() {
        let (zone, _) = autumn();
        for (text, utc) in [
            ("2026-10-24 14:00", "2026-10-24T12:00:00Z"),
            ("2026-10-25 02:30", "2026-10-25T00:30:00Z"),
            ("2026-10-25 03:30", "2026-10-25T02:30:00Z"),
        ] {
            assert_eq!(zone.utc(shown(text)), Some(at(utc)), "{text}");
        }
        let change = at("2027-03-28T01:00:00Z");
        let hours = move |at| FixedOffset::east_opt(3600 * if at < change { 1 } else { 2 }).unwrap();
        let spring = Zone::of(at("2027-03-20T00:00:00Z"), hours);
        assert_eq!(spring.utc(shown("2027-03-28 02:30")), None, "no clock shows that");
    }

    #[test]
    fn a_time_on_another_local_day_has_its_date() {
        let (zone, _) = autumn();
        let now = at("2026-10-20T21:30:00Z");
        assert_eq!(zone.clock(at("2026-10-20T21:45:00Z"), now), "23:45");
        assert_eq!(zone.clock(at("2026-10-20T22:05:00Z"), now), "2026-10-21 00:05");
    }

    #[test]
    fn the_captured_zone_matches_the_system() {
        let now = Utc::now();
        assert_eq!(Zone::read(now).local(now).naive_local(), now.with_timezone(&Local).naive_local());
    }
}
