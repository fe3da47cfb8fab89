//! Recognizes provider errors (limits, login, overload) by their texts, and reads when a limit resets.

use super::end_text::first_line;
use crate::outcome::Outcome;
use crate::zone;
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A rate limit or a quota.
    Limit,
    /// No login, or a refused one.
    Auth,
    /// Overload, or a lost connection; a retry may help.
    Transient,
    /// Anything else.
    Other,
}

macro_rules! pattern {
    ($($part:literal),+ $(,)?) => { LazyLock::new(|| Regex::new(concat!("(?i)", $($part),+)).expect("a constant pattern")) };
}

static LIMIT: LazyLock<Regex> = pattern!(
    r"\b(usage|rate|session|weekly|daily|monthly|hourly|\d+-hour|token|request|spend(ing)?|plan|free[- ]tier)[- ]limit\b",
    r"|\blimit (reached|exceeded|hit)\b|\bhit (your|the) (\S+ ){0,3}limit\b|\breached (your|the) (\S+ ){0,3}(limit|quota)\b",
    r"|too many requests|\bquota\b|insufficient_quota|rate_?limit|out of (extra )?usage|usage_limit",
    r"|credit balance is too low|resource_exhausted|tokens per (minute|day)|\b429\b",
);
static AUTH: LazyLock<Regex> = pattern!(
    r"authentication_(failed|error)|failed to authenticate|not (logged|signed) in|please run /login|unauthori[sz]ed",
    r"|(invalid|missing|incorrect|no) (x-)?api[- ]key|oauth token|token (has )?expired|permission_error|\b40[13]\b",
);
static PASSING: LazyLock<Regex> = pattern!(
    r"overloaded|at capacity|server_error|\bapi_error\b|service unavailable|bad gateway|gateway time-?out|\b(50[0-9]|52[0-9])\b",
    r"|connection (error|refused|reset|closed|failed|lost)|connection_failed|unable to connect|econn(refused|reset|aborted)",
    r"|etimedout|enotfound|eai_again|socket hang up|fetch failed|network error|stream (cut|ended|closed|error)|timed out",
);

/// The kind of an error by its text. Only for error texts: an ordinary sentence may contain the same words.
pub fn trouble(text: &str) -> Trouble {
    let known = [(&AUTH, Trouble::Auth), (&LIMIT, Trouble::Limit), (&PASSING, Trouble::Transient)];
    known.iter().find(|(pattern, _)| pattern.is_match(text)).map_or(Trouble::Other, |(_, trouble)| *trouble)
}

/// Whether a short text says only that a limit was reached, which is the final message of some releases.
pub fn is_bare_limit(text: &str) -> bool {
    static BARE: LazyLock<Regex> = pattern!(
        r"^\W*(api error:?\s*)?((claude( ai| code)?|opencode|codex|gemini)\s+)?(you've|you have)?\s*",
        r"(hit|reached|exceeded|request rejected|(\S+\s+){0,2}limit (reached|exceeded)|rate[_ ]limit(ed)?|usage limit|",
        r"this request would exceed|too many requests|quota exceeded)",
    );
    text.len() < 300 && BARE.is_match(text.trim()) && LIMIT.is_match(text)
}

/// When the limit in `text` resets, if the text says so; relative times count from `now`.
pub fn over_at(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let found = epoch(text).or_else(|| iso(text)).or_else(|| span(text, now)).or_else(|| clock(text, now));
    found.filter(|at| is_near(*at, now))
}

/// The outcome of a limit that resets at `until`, or at the time in its text.
pub fn limited(text: &str, until: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Outcome {
    let until = until.filter(|at| is_near(*at, now)).or_else(|| over_at(text, now));
    let unsaid = if until.is_none() { "; its end is unknown" } else { "" };
    Outcome::Limited { why: format!("{}{unsaid}", first_line(text)), until }
}

/// Whether a limit can reset then; a time in the past or months away was read wrongly.
fn is_near(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at > now && at - now < TimeDelta::days(32)
}

/// A time in seconds since 1970, or in milliseconds if it is too large for seconds.
pub fn since_1970(number: f64) -> Option<DateTime<Utc>> {
    /// The year 5138 in seconds, 1973 in milliseconds.
    const FAR: f64 = 1e11;
    let millis = if number.abs() < FAR { number * 1000.0 } else { number };
    if millis.is_finite() { DateTime::from_timestamp_millis(millis as i64) } else { None }
}

fn epoch(text: &str) -> Option<DateTime<Utc>> {
    static EPOCH: LazyLock<Regex> = pattern!(r"(?:\||resets?_?at\D{0,4}|reset\D{0,3})(\d{10})(?:\d{3})?\b");
    DateTime::from_timestamp(EPOCH.captures(text)?[1].parse().ok()?, 0)
}

fn iso(text: &str) -> Option<DateTime<Utc>> {
    static ISO: LazyLock<Regex> =
        pattern!(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)");
    DateTime::parse_from_rfc3339(ISO.find(text)?.as_str()).ok().map(|at| at.to_utc())
}

/// `in 5m 30s`, `after 2 hours`, `retry-after: 20`.
fn span(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    static SPAN: LazyLock<Regex> = pattern!(
        r"(?:resets?|again|retry|wait|available|resumes?)[^.\n]{0,40}?\b(?:in|after|for)\b[\s:]+(?:about\s+)?",
        r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b?[\s,]*(?:and\s+)?)+)",
        r"|retry-after[\s:=]+(\d+)",
    );
    static PART: LazyLock<Regex> = pattern!(r"(\d+(?:\.\d+)?)\s*(milliseconds?|ms|s|m|h|d)");
    let found = SPAN.captures(text)?;
    if let Some(seconds) = found.get(2) {
        return now.checked_add_signed(TimeDelta::try_seconds(seconds.as_str().parse().ok()?)?);
    }
    let mut seconds = 0.0;
    for part in PART.captures_iter(found.get(1)?.as_str()) {
        let unit = match part[2].to_ascii_lowercase().as_str() {
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => 0.001,
        };
        seconds += part[1].parse::<f64>().ok()? * unit;
    }
    now.checked_add_signed(TimeDelta::try_milliseconds((seconds * 1000.0).min(1e12) as i64)?)
}

/// `resets 3pm`, `reset at 4:30pm (UTC)`, `resets Oct 9, 3pm`, `try again at Oct 9th, 2026 3:37 PM`.
fn clock(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    static CLOCK: LazyLock<Regex> = pattern!(
        r"(?:resets?|again|available|until|resumes?)\b(?:\s+(?:at|on))?[\s:∙·]+",
        r"(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(\d{4}),?\s+)?(?:at\s+)?)?",
        r"(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*(am|pm)?(?:\s*\(([^)]*)\))?",
    );
    let found = CLOCK.captures(text)?;
    // A number alone is not a time.
    let (minute, half) = (found.get(5), found.get(6));
    if minute.is_none() && half.is_none() {
        return None;
    }
    let hour: u32 = found[4].parse().ok()?;
    let hour = match half.map(|h| h.as_str().to_ascii_lowercase()).as_deref() {
        Some("am") => hour % 12,
        Some("pm") => hour % 12 + 12,
        _ => hour,
    };
    let minute = minute.map_or(Some(0), |m| m.as_str().parse().ok())?;
    let utc = found.get(7).is_some_and(|zone| matches!(zone.as_str(), "UTC" | "GMT" | "Z"));
    // Agents print the time in this machine's zone.
    let zone = zone::current();
    let here = if utc { now.naive_utc() } else { zone.local(now).naive_local() };
    let at = day(&found, here, hour, minute)?;
    if utc { Some(at.and_utc()) } else { zone.utc(at) }
}

fn day(found: &Captures<'_>, now: NaiveDateTime, hour: u32, minute: u32) -> Option<NaiveDateTime> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let Some(month) = found.get(1) else {
        let today = now.date().and_hms_opt(hour, minute, 0)?;
        return Some(if today > now { today } else { today.checked_add_signed(TimeDelta::days(1))? });
    };
    let month = MONTHS.find(&month.as_str().to_ascii_lowercase())? as u32 / 3 + 1;
    let date =
        |year| NaiveDate::from_ymd_opt(year, month, found[2].parse().ok()?)?.and_hms_opt(hour, minute, 0);
    match found.get(3) {
        Some(year) => date(year.as_str().parse().ok()?),
        None => [now.year(), now.year() + 1].into_iter().filter_map(date).find(|at| *at > now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    fn local(text: &str) -> DateTime<Utc> {
        let naive = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
        zone::current().utc(naive).unwrap()
    }

    #[test]
    fn reset_times_are_read_in_all_known_wordings() {
        let now = local("2026-10-07 14:00");
        let until = |text: &str| over_at(text, now);
        assert_eq!(
            until("Claude AI usage limit reached|1791400000"),
            DateTime::from_timestamp(1_791_400_000, 0)
        );
        assert_eq!(until("5-hour limit reached ∙ resets 3pm"), Some(local("2026-10-07 15:00")));
        assert_eq!(
            until("You've hit your limit · resets 4:30am (Europe/Lisbon)"),
            Some(local("2026-10-08 04:30"))
        );
        assert_eq!(
            until("You've hit your weekly limit · resets Oct 9, 3pm"),
            Some(local("2026-10-09 15:00"))
        );
        assert_eq!(until("Your limit will reset at 3pm (Europe/Lisbon)."), Some(local("2026-10-07 15:00")));
        assert_eq!(until("try again at Oct 9th, 2026 3:37 PM."), Some(local("2026-10-09 15:37")));
        assert_eq!(until("Please try again in 5m30s."), Some(now + TimeDelta::seconds(330)));
        assert_eq!(until("Please try again in 1.5s"), Some(now + TimeDelta::milliseconds(1500)));
        assert_eq!(until("resets in 2 hours and 3 minutes"), Some(now + TimeDelta::minutes(123)));
        assert_eq!(until("429, retry-after: 20"), Some(now + TimeDelta::seconds(20)));
        assert_eq!(until("resets at 2026-10-07T23:00:00Z"), Some(at("2026-10-07T23:00:00Z")));
        assert_eq!(until("rate limit, sorry"), None);
        assert_eq!(until("limit reached|1000000000"), None, "the past");
        let now = at("2026-10-07T14:00:00Z");
        assert_eq!(over_at("resets 11am (UTC)", now), Some(at("2026-10-08T11:00:00Z")));
    }

    #[test]
    fn error_kinds_are_recognized_by_their_texts() {
        let limits = [
            "API Error: Request rejected (429) · fake rate_limit_error",
            "Claude AI usage limit reached|1791400000",
            "You've hit your limit · resets 3pm (Europe/Lisbon)",
            "5-hour limit reached ∙ resets 3pm",
            "You have reached your Codex usage limit",
            "Credit balance is too low",
            "You exceeded your current quota, please check your plan",
        ];
        for text in limits {
            assert_eq!(trouble(text), Trouble::Limit, "{text}");
        }
        for text in [
            "Not logged in · Please run /login",
            "Invalid API key · Fix external API key",
            "401 Unauthorized",
        ] {
            assert_eq!(trouble(text), Trouble::Auth, "{text}");
        }
        for text in
            ["API Error: 529 Overloaded", "Unable to connect to API (ECONNREFUSED)", "500 fake api_error"]
        {
            assert_eq!(trouble(text), Trouble::Transient, "{text}");
        }
        assert_eq!(trouble("Prompt is too long"), Trouble::Other);
        assert!(is_bare_limit(limits[1]) && is_bare_limit(limits[2]) && is_bare_limit(limits[3]));
        assert!(!is_bare_limit("I added a rate limit to the API, as asked."));
    }

    #[test]
    fn huge_numbers_are_not_read_as_times() {
        let now = at("2026-10-07T14:00:00Z");
        for text in [
            "429 rate limit exceeded, retry-after: 99999999999999999",
            "retry-after: 9223372036854775807",
            "retry-after: 99999999999999999999999999",
            "try again in 99999999999999999999 days",
            "try again in 9999999999999 hours and 99999999999999 minutes",
            "resets_at: 9999999999",
            "resets at 9999-12-31T23:59:59Z",
            "resets Oct 9, 9999, 3pm",
            "resets 99:99pm",
        ] {
            assert_eq!(over_at(text, now), None, "{text}");
            assert!(matches!(limited(text, None, now), Outcome::Limited { until: None, .. }), "{text}");
        }
    }

    #[test]
    fn numeric_reset_times_are_bounded_like_those_in_texts() {
        let now = at("2026-10-07T14:00:00Z");
        let until = |number: f64| match limited("limit", since_1970(number), now) {
            Outcome::Limited { until, .. } => until,
            other => panic!("{other:?}"),
        };
        let hour = now + TimeDelta::hours(1);
        assert_eq!(until(hour.timestamp() as f64), Some(hour));
        assert_eq!(until(hour.timestamp_millis() as f64), Some(hour), "milliseconds are known by their size");
        let month = now + TimeDelta::days(33);
        let absurd =
            [253_402_300_799.0, 253_402_300_799_000.0, 1e300, -1e300, f64::NAN, f64::INFINITY, 0.0, -1.0];
        for number in absurd.into_iter().chain([month.timestamp() as f64]) {
            assert_eq!(until(number), None, "{number}");
        }
    }
}
