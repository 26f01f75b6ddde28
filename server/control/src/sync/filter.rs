//! Selection of files by globs.

use crate::model::Glob;

/// Files that are included, without those that are excluded.
#[derive(Debug)]
pub struct Filter {
    /// An empty list includes all files.
    included: Vec<(Glob, String)>,
    excluded: Vec<Glob>,
}

impl Filter {
    /// Parses the globs.
    ///
    /// # Errors
    /// The problem of a glob, with the glob.
    pub fn new(included: &[String], excluded: &[String]) -> Result<Self, String> {
        let parse = |glob: &String| Glob::new(glob).map_err(|error| format!("{glob:?} {error}"));
        let with_prefix = |glob: &String| Ok((parse(glob)?, literal_prefix(glob)));
        Ok(Self {
            included: included
                .iter()
                .map(with_prefix)
                .collect::<Result<_, String>>()?,
            excluded: excluded.iter().map(parse).collect::<Result<_, _>>()?,
        })
    }

    /// Returns `true` if a file is selected: one glob includes it, and none excludes it. Without globs, all files are
    /// included.
    pub fn selects(&self, path: &str) -> bool {
        let is_included =
            self.included.is_empty() || self.included.iter().any(|(glob, _)| glob.matches(path));
        is_included && !self.excludes(path)
    }

    /// Returns `true` if a file below a folder may be selected. A glob that matches a folder excludes all files below it.
    pub fn may_select_below(&self, folder: &str) -> bool {
        let folder_slash = format!("{folder}/");
        let may_include = |(_, prefix): &(Glob, String)| {
            prefix.starts_with(&folder_slash) || folder_slash.starts_with(prefix.as_str())
        };
        let is_included = self.included.is_empty() || self.included.iter().any(may_include);
        is_included && !self.excludes(folder)
    }

    /// Returns `true` if a glob excludes the path or a folder above it.
    fn excludes(&self, path: &str) -> bool {
        if self.excluded.is_empty() {
            return false;
        }
        let ends = path.match_indices('/').map(|(at, _)| at);
        ends.chain([path.len()]).any(|end| {
            let above = path.get(..end).unwrap_or(path);
            self.excluded.iter().any(|glob| glob.matches(above))
        })
    }
}

/// Returns the text of a glob before its first special character.
fn literal_prefix(glob: &str) -> String {
    let is_special = |letter: char| "*?[{\\".contains(letter);
    glob.split(is_special).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Filter;

    fn filter(included: &[&str], excluded: &[&str]) -> Filter {
        let owned = |globs: &[&str]| {
            globs
                .iter()
                .map(|&glob| glob.to_owned())
                .collect::<Vec<_>>()
        };
        Filter::new(&owned(included), &owned(excluded)).unwrap()
    }

    #[test]
    fn files_are_selected() {
        for (included, excluded, path, wanted) in [
            (&[][..], &[][..], "a/b.rego", true),
            (&["*.rego"], &[], "a/b/c.rego", true),
            (&["*.rego"], &[], "a/b/c.json", false),
            (&["app/*"], &[], "app/x/y.rego", true),
            (&["**/*.rego"], &[], "top.rego", false),
            (&["*.rego"], &["*_test.rego"], "a_test.rego", false),
            (&[], &["vendor"], "vendor/x/y.rego", false),
            (&[], &["vendor"], "a/vendor/y.rego", true),
            (&[], &["*/vendor"], "a/vendor/y.rego", false),
            (&[], &[".*"], ".github/x", false),
            (&[""], &[], "a", false),
        ] {
            assert_eq!(filter(included, excluded).selects(path), wanted, "{path}");
        }
    }

    #[test]
    fn folders_may_contain_selected_files() {
        for (included, excluded, folder, wanted) in [
            (&[][..], &[][..], "a", true),
            (&["*.rego"], &[], "a/b", true),
            (&["app/*"], &[], "app", true),
            (&["app/*"], &[], "app/sub", true),
            (&["app/*"], &[], "apps", false),
            (&["app/x.rego"], &[], "app", true),
            (&["app/x.rego"], &[], "lib", false),
            (&[], &["vendor"], "vendor", false),
            (&[], &["vendor"], "vendor/x", false),
        ] {
            let filter = filter(included, excluded);
            assert_eq!(filter.may_select_below(folder), wanted, "{folder}");
        }
    }

    #[test]
    fn invalid_globs_are_rejected() {
        let error = Filter::new(&["[".to_owned()], &[]).unwrap_err();
        assert!(error.starts_with("\"[\" is not a valid glob"), "{error}");
    }
}
