//! CheckUnusedImports, CheckDuplicateImports and RemoveImports.

use hashbrown::HashMap;

use solon_syntax::source::Code;

use crate::compile::Compilation;

/// Rejects unused imports in strict mode.
pub fn check_unused(compilation: &mut Compilation<'_>) {
    for import in std::mem::take(&mut compilation.unused_imports) {
        let message = format!("{import} unused");
        compilation.recoverable(Code::Compile, import.span, message);
    }
}

/// Rejects imports with a name that is already used, in v1 modules and in strict mode.
pub fn check_duplicates(compilation: &mut Compilation<'_>) {
    let report = &mut compilation.report;
    for module in compilation.modules.open() {
        if !compilation.options.strict && !module.version.is_v1() {
            continue;
        }
        let mut names = HashMap::new();
        for import in &module.imports {
            let Some(name) = import.name() else {
                continue;
            };
            if let Some(earlier) = names.get(name) {
                let message = format!("import must not shadow {earlier}");
                report.recoverable(Code::Compile, import.span, message);
            } else {
                names.insert(name, import);
            }
        }
    }
}

/// Removes the imports, which later passes do not need.
pub fn remove(compilation: &mut Compilation<'_>) {
    for module in compilation.modules.open_mut() {
        module.imports.clear();
    }
}
