//! Random programs with unknowns.

use crate::generate::{self, Request, Theme, quoted};

/// A program, and the unknowns of its query.
#[derive(Clone)]
pub struct Drawn {
    /// `THEME/INDEX`.
    pub name: String,
    pub request: Request,
    pub unknowns: Vec<String>,
    /// Documents that are not inlined.
    pub disabled: Vec<String>,
    /// `true` if values are requested, not only the existence of solutions.
    pub captured: bool,
}

/// Programs with mistakes do not compile.
const LEFT_OUT: [Theme; 1] = [Theme::Mistakes];

/// Returns `true` for layouts with uninformative residuals. Where rules refer to each other after an unknown variable,
/// OPA searches without end and Solon up to its limits, which takes too long here. A set with variables as a member is
/// found by its value only if the whole document was requested before, so the result depends on the order.
fn is_left_out(theme: Theme, modules: &[(String, String)]) -> bool {
    let has = |part: &str| modules.iter().any(|(_, text)| text.contains(part));
    theme == Theme::Layouts && (has("[x] if input.n > 5") || has("contains {i, 1}"))
}

/// Returns program `number` of a seed. The themes alternate, except those left out.
pub fn draw(seed: u64, number: u64, filter: &str) -> Option<Drawn> {
    let themes = Theme::ALL
        .into_iter()
        .filter(|theme| !LEFT_OUT.contains(theme) && theme.name().contains(filter));
    let themes: Vec<Theme> = themes.collect();
    let count = themes.len() as u64;
    let theme = *themes.get(usize::try_from(number.checked_rem(count)?).ok()?)?;
    let index = number / count;
    let mut request = generate::program(seed, theme, index);
    // If heads have a variable after or instead of a constant key, OPA's support has rules for the constant keys only,
    // whose document exists even if it is empty.
    let has_both = |text: &str| text.contains("r[\"") && text.contains("r[x]");
    if request.modules.iter().any(|(_, text)| has_both(text)) && theme == Theme::Tables {
        return None;
    }
    if is_left_out(theme, &request.modules) {
        return None;
    }
    // Residuals are v1 source, and errors are not compared.
    if request.v0
        || request
            .modules
            .iter()
            .any(|(_, text)| text.contains("import rego.v2"))
    {
        return None;
    }
    (request.strict, request.strict_builtin_errors) = (false, false);
    // Assignments leave variables with other names.
    request.query = request.query.replace(" := ", " = ");
    // A whole package would stay in the residual unchanged.
    let packages = request
        .modules
        .iter()
        .filter_map(|(_, text)| text.lines().next());
    let mut packages = packages.filter_map(|line| line.strip_prefix("package "));
    if let Some(package) = request.query.strip_prefix("data.")
        && packages.any(|other| other == package)
    {
        request.query.push_str("[name]");
    }
    let unknowns = unknowns(&request, usize::try_from(index).ok()?);
    Some(Drawn {
        name: format!("{}/{index}", theme.name()),
        request,
        unknowns,
        disabled: Vec::new(),
        captured: index % 3 != 1,
    })
}

/// Returns the whole input, one member of it, all except one, a base document, or that and the input.
fn unknowns(request: &Request, index: usize) -> Vec<String> {
    let member = |root: &str, name: &str| format!("{root}[{}]", quoted(name));
    let pick = |fields: &[(String, String)]| {
        let at = (index / 6).checked_rem(fields.len())?;
        fields.get(at).map(|(name, _)| name.clone())
    };
    let input = pick(&request.input);
    let data = pick(&request.data).map(|name| member("data", &name));
    let whole = || "input".to_owned();
    match index % 6 {
        0 | 1 => vec![whole()],
        2 => match input {
            Some(name) => vec![member("input", &name)],
            None => vec![whole()],
        },
        3 if request.input.len() > 1 => {
            let names = request.input.iter().map(|(name, _)| name);
            let others = names.filter(|name| Some(*name) != input.as_ref());
            others.map(|name| member("input", name)).collect()
        }
        4 => vec![data.unwrap_or_else(whole)],
        _ => std::iter::once(whole()).chain(data).collect(),
    }
}

impl Drawn {
    /// Returns the request for the residual, as a line of JSON, without the unknown documents.
    pub fn line(&self) -> String {
        let json = self.without_unknowns().json();
        let unknowns: Vec<String> = self.unknowns.iter().map(|text| quoted(text)).collect();
        let rest = json.strip_suffix('}').unwrap_or(&json);
        format!(
            "{rest},\"partial\":true,\"unknowns\":[{}]}}",
            unknowns.join(",")
        )
    }

    /// Returns the program with its known documents only.
    pub fn without_unknowns(&self) -> Request {
        let mut known = self.request.clone();
        for (root, fields) in [("input", &mut known.input), ("data", &mut known.data)] {
            fields.retain(|(name, _)| {
                let unknown =
                    |text: &String| *text == root || *text == format!("{root}[{}]", quoted(name));
                !self.unknowns.iter().any(unknown)
            });
        }
        known
    }
}

/// Removes rules, lines and documents as long as the rest still fails.
pub fn reduced(mut drawn: Drawn, mut fails: impl FnMut(&Drawn) -> bool) -> Drawn {
    loop {
        let smaller = drawn.request.smaller().into_iter().map(|request| Drawn {
            request,
            ..drawn.clone()
        });
        let smaller = smaller.into_iter().find(|candidate| fails(candidate));
        match smaller {
            Some(smaller) => drawn = smaller,
            None => return drawn,
        }
    }
}
