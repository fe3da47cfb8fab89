//! The local time, as the editor's main thread last saw it.
//!
//! What tells the zone (`TZ`) is in the environment, which no other thread may read (see [`crate::environ`]), and nothing
//! that is replayed may depend on it. So runs hold instants, and whoever shows one takes the zone from here.

use crate::sync::locked;
use chrono::{DateTime, FixedOffset, Local, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use std::sync::Mutex;

/// How far ahead a change of the clocks is looked for: further than any limit is believed.
const AHEAD: TimeDelta = TimeDelta::days(40);

static SEEN: Mutex<Option<Zone>> = Mutex::new(None);

/// How far local time is from UTC, now and after the next change of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    offset: FixedOffset,
    change: Option<(DateTime<Utc>, FixedOffset)>,
}

/// Takes the zone as it is now. For the editor's main thread.
pub fn capture() {
    *locked(&SEEN) = Some(Zone::read(Utc::now()));
}

/// What was captured last, else the zone as it is.
pub fn current() -> Zone {
    let seen = *locked(&SEEN);
    seen.unwrap_or_else(|| Zone::read(Utc::now()))
}

impl Zone {
    fn read(now: DateTime<Utc>) -> Self {
        Self::of(now, |at| Local.offset_from_utc_datetime(&at.naive_utc()).fix())
    }

    /// The zone whose offset at a time `offset` tells.
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
        // Clocks change at a whole second: the first one behind the last that is as now.
        let at = DateTime::from_timestamp(after.timestamp(), 0).unwrap_or(after);
        Self { offset: here, change: Some((at, offset(after))) }
    }

    fn offset(&self, at: DateTime<Utc>) -> FixedOffset {
        self.change.filter(|(change, _)| at >= *change).map_or(self.offset, |(_, offset)| offset)
    }

    /// A time as clocks here show it.
    pub fn local(&self, at: DateTime<Utc>) -> DateTime<FixedOffset> {
        at.with_timezone(&self.offset(at))
    }

    /// The time at which clocks here show this; of two, the earlier.
    pub fn utc(&self, shown: NaiveDateTime) -> Option<DateTime<Utc>> {
        let offsets = [Some(self.offset), self.change.map(|(_, offset)| offset)];
        let times = offsets.into_iter().flatten().filter_map(|it| it.from_local_datetime(&shown).single());
        times.map(|at| at.to_utc()).filter(|at| self.local(*at).naive_local() == shown).min()
    }

    /// A time of day, with its date where that is not today's.
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
    fn a_change_of_the_clocks_is_found_to_the_second() {
        let (zone, change) = autumn();
        assert_eq!(zone.change.map(|(at, _)| at), Some(change));
        assert_eq!(zone.local(at("2026-10-24T12:00:00Z")).naive_local(), shown("2026-10-24 14:00"));
        assert_eq!(zone.local(at("2026-10-26T12:00:00Z")).naive_local(), shown("2026-10-26 13:00"));
        let fixed = FixedOffset::west_opt(5 * 3600).unwrap();
        assert_eq!(Zone::of(change, |_| fixed), Zone { offset: fixed, change: None });
    }

    #[test]
    fn what_clocks_show_is_a_time_also_around_their_change() {
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
    fn a_clock_has_its_date_where_that_is_another_day_here() {
        let (zone, _) = autumn();
        let now = at("2026-10-20T21:30:00Z");
        assert_eq!(zone.clock(at("2026-10-20T21:45:00Z"), now), "23:45");
        assert_eq!(zone.clock(at("2026-10-20T22:05:00Z"), now), "2026-10-21 00:05");
    }

    #[test]
    fn what_is_read_is_what_the_system_says() {
        let now = Utc::now();
        assert_eq!(Zone::read(now).local(now).naive_local(), now.with_timezone(&Local).naive_local());
    }
}
