//! Suggests the nearest known name, for "did you mean".

/// Longest name that is compared. The cost grows with the product of the lengths.
const LONGEST: usize = 100;

/// The candidate nearest to `name`, if it is near enough.
///
/// Near means a Damerau-Levenshtein distance of at most one plus a quarter of the name's length, ignoring case.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().take(LONGEST + 1).count();
    if length > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let limit = 1 + length / 4;
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * (LONGEST + limit))
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= limit)
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean "x"?)` for the nearest candidate, or an empty text.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let gates = ["human-approval", "auto"];
        assert_eq!(nearest("human_approval", gates), Some("human-approval"));
        assert_eq!(nearest("Auto", gates), Some("auto"));
        assert_eq!(nearest("nothing-like-it", gates), None);
        assert_eq!(nearest(&"human-approval".repeat(1_000_000), gates), None, "and at once");
        assert_eq!(did_you_mean("atuo", gates), " (did you mean \"auto\"?)");
    }
}
