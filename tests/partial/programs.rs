//! Random programs with something unknown.

use crate::generate::{self, Request, Theme, quoted};

/// A program, and what is unknown when its query is asked.
#[derive(Clone)]
pub struct Drawn {
    /// `THEME/INDEX`.
    pub name: String,
    pub request: Request,
    pub unknowns: Vec<String>,
    /// The documents that are not inlined.
    pub disabled: Vec<String>,
    /// Whether it is asked for values, and not only whether there are any.
    pub captured: bool,
}

/// Mistakes do not compile.
const LEFT_OUT: [Theme; 1] = [Theme::Mistakes];

/// Layouts whose residuals say nothing. Where rules ask each other behind a variable that is unknown, the reference engine
/// searches them without end, and Solon up to its bounds, which takes too long here. A set with variables as a member is
/// found by its value only when the whole document was asked for before, so that the answer hangs on the order.
fn is_left_out(theme: Theme, modules: &[(String, String)]) -> bool {
    let has = |part: &str| modules.iter().any(|(_, text)| text.contains(part));
    theme == Theme::Layouts && (has("[x] if input.n > 5") || has("contains {i, 1}"))
}

/// Program `number` of a seed. All themes take their turns but those.
pub fn draw(seed: u64, number: u64, filter: &str) -> Option<Drawn> {
    let themes = Theme::ALL
        .into_iter()
        .filter(|theme| !LEFT_OUT.contains(theme) && theme.name().contains(filter));
    let themes: Vec<Theme> = themes.collect();
    let count = themes.len() as u64;
    let theme = *themes.get(usize::try_from(number.checked_rem(count)?).ok()?)?;
    let index = number / count;
    let mut request = generate::program(seed, theme, index);
    // where heads have a variable behind a constant key or in its place, the support that the reference engine leaves has
    // rules for the constant keys alone, whose document is there even when it is empty
    let has_both = |text: &str| text.contains("r[\"") && text.contains("r[x]");
    if request.modules.iter().any(|(_, text)| has_both(text)) && theme == Theme::Tables {
        return None;
    }
    if is_left_out(theme, &request.modules) {
        return None;
    }
    // what is left is source of v1, and errors are not what is compared
    if request.v0
        || request
            .modules
            .iter()
            .any(|(_, text)| text.contains("import rego.v2"))
    {
        return None;
    }
    (request.strict, request.strict_builtin_errors) = (false, false);
    // what is assigned is left under another name
    request.query = request.query.replace(" := ", " = ");
    // a package as a whole would be left as it stands
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

/// The whole input, one member of it, all but one, a base document, or that and the input.
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
    /// The request for the residual, as a line of JSON. What is unknown is not told.
    pub fn line(&self) -> String {
        let json = self.known().json();
        let unknowns: Vec<String> = self.unknowns.iter().map(|text| quoted(text)).collect();
        let rest = json.strip_suffix('}').unwrap_or(&json);
        format!(
            "{rest},\"partial\":true,\"unknowns\":[{}]}}",
            unknowns.join(",")
        )
    }

    /// The program with what is known of its documents.
    pub fn known(&self) -> Request {
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

/// Takes away rules, lines and documents as long as what is left still fails.
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
