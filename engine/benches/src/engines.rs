//! The compared engines, with a common trait.

use std::sync::Arc;
use std::time::Instant;

use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use solon::internal::value::json;

use crate::manifest::Workload;
use crate::written::Written;

/// An engine that has loaded one workload.
pub trait Contender {
    /// Evaluates with the parsed input.
    fn decide(&mut self);
    /// Parses the input text, evaluates, and returns the result as text.
    fn decide_json(&mut self) -> Option<String>;
    /// Returns how long loading the documents took, in milliseconds.
    fn load_ms(&self) -> f64;
    /// Returns how long compiling and preparing took, in milliseconds.
    fn prepare_ms(&self) -> f64;
}

/// Returns the milliseconds since `start`.
pub fn elapsed_ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A compared engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Solon.
    Solon,
    /// Interpreter of regorus.
    Interpreter,
    /// Register machine of regorus.
    RegisterVm,
    /// Handwritten Rust, which exists for some workloads.
    Written,
}

impl Engine {
    /// All engines, in the order of the columns.
    pub const ALL: [Self; 4] = [
        Self::Solon,
        Self::Interpreter,
        Self::RegisterVm,
        Self::Written,
    ];

    /// Returns the column name, which is also the argument of `count`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solon => "solon",
            Self::Interpreter => "regorus",
            Self::RegisterVm => "regorus-vm",
            Self::Written => "rust",
        }
    }

    /// Loads a workload.
    ///
    /// # Errors
    /// Returns the error of the engine.
    pub fn load(self, workload: &Workload) -> Result<Box<dyn Contender>, String> {
        match self {
            Self::Solon => Ok(Box::new(Solon::load(workload)?)),
            Self::Interpreter => Ok(Box::new(Interpreter::load(workload)?)),
            Self::RegisterVm => Ok(Box::new(RegisterVm::load(workload)?)),
            Self::Written => Ok(Box::new(Written::load(workload)?)),
        }
    }
}

/// Solon with a loaded workload.
pub struct Solon {
    engine: solon::Engine,
    entrypoint: String,
    document: solon::PreparedDocument,
    input: Option<solon::Value>,
    text: Option<String>,
    load_ms: f64,
    prepare_ms: f64,
}

impl Solon {
    /// Returns the prepared document and its input.
    pub fn prepared(&self) -> (&solon::PreparedDocument, Option<&solon::Value>) {
        (&self.document, self.input.as_ref())
    }

    /// Prepares the document again.
    ///
    /// # Errors
    /// Returns the error of the engine.
    pub fn prepare(&self) -> Result<solon::PreparedDocument, String> {
        let document = self.engine.prepare_document(&self.entrypoint);
        document.map_err(|error| error.to_string())
    }

    /// Compiles the policies and prepares the document again.
    ///
    /// # Errors
    /// Returns the error of the engine.
    pub fn compile_again(&self, workload: &Workload) -> Result<solon::PreparedDocument, String> {
        let compiled = self.engine.set_modules(workload.modules());
        compiled.map_err(|error| error.to_string())?;
        self.prepare()
    }

    /// Loads a workload.
    ///
    /// # Errors
    /// Returns the error of the engine.
    pub fn load(workload: &Workload) -> Result<Self, String> {
        let engine = solon::Engine::new();
        let start = Instant::now();
        if let Some(data) = &workload.data {
            let data = json::read(data.as_bytes()).map_err(|error| error.to_string())?;
            engine
                .put("data", data)
                .map_err(|error| error.to_string())?;
        }
        let load_ms = elapsed_ms(start);
        let start = Instant::now();
        engine
            .set_modules(workload.modules())
            .map_err(|error| error.to_string())?;
        let entrypoint = workload.entrypoint.clone();
        let document = engine
            .prepare_document(&entrypoint)
            .map_err(|error| error.to_string())?;
        let prepare_ms = elapsed_ms(start);
        let input = workload
            .input
            .as_ref()
            .map(|text| json::read(text.as_bytes()));
        let input = input.transpose().map_err(|error| error.to_string())?;
        Ok(Self {
            engine,
            entrypoint,
            document,
            input,
            text: workload.input.clone(),
            load_ms,
            prepare_ms,
        })
    }
}

impl Contender for Solon {
    fn decide(&mut self) {
        let mut request = solon::Request::new();
        if let Some(input) = &self.input {
            request = request.input(input);
        }
        let _ = std::hint::black_box(self.document.evaluate(&request));
    }

    fn decide_json(&mut self) -> Option<String> {
        let mut request = solon::Request::new();
        if let Some(text) = &self.text {
            request = request.input_json(text.as_bytes());
        }
        let text = self.document.evaluate_json(&request).ok()??;
        String::from_utf8(text).ok()
    }

    fn load_ms(&self) -> f64 {
        self.load_ms
    }

    fn prepare_ms(&self) -> f64 {
        self.prepare_ms
    }
}

struct Interpreter {
    engine: regorus::Engine,
    rule: String,
    input: Option<regorus::Value>,
    text: Option<String>,
    load_ms: f64,
    prepare_ms: f64,
}

fn regorus_engine(workload: &Workload) -> Result<regorus::Engine, String> {
    let mut engine = regorus::Engine::new();
    if let Some(data) = &workload.data {
        let data = regorus::Value::from_json_str(data).map_err(|error| error.to_string())?;
        engine.add_data(data).map_err(|error| error.to_string())?;
    }
    Ok(engine)
}

fn regorus_input(workload: &Workload) -> Result<Option<regorus::Value>, String> {
    let input = workload
        .input
        .as_ref()
        .map(|text| regorus::Value::from_json_str(text));
    input.transpose().map_err(|error| error.to_string())
}

impl Interpreter {
    fn load(workload: &Workload) -> Result<Self, String> {
        let start = Instant::now();
        let mut engine = regorus_engine(workload)?;
        let load_ms = elapsed_ms(start);
        let start = Instant::now();
        for (name, text) in workload.modules() {
            engine
                .add_policy(name.to_owned(), text.to_owned())
                .map_err(|error| error.to_string())?;
        }
        let prepare_ms = elapsed_ms(start);
        let input = regorus_input(workload)?;
        Ok(Self {
            engine,
            rule: workload.entrypoint.clone(),
            input,
            text: workload.input.clone(),
            load_ms,
            prepare_ms,
        })
    }
}

impl Contender for Interpreter {
    fn decide(&mut self) {
        if let Some(input) = &self.input {
            self.engine.set_input(input.clone());
        }
        let _ = std::hint::black_box(self.engine.eval_rule(self.rule.clone()));
    }

    fn decide_json(&mut self) -> Option<String> {
        if let Some(text) = &self.text {
            self.engine
                .set_input(regorus::Value::from_json_str(text).ok()?);
        }
        let value = self.engine.eval_rule(self.rule.clone()).ok()?;
        value.to_json_str().ok()
    }

    fn load_ms(&self) -> f64 {
        self.load_ms
    }

    fn prepare_ms(&self) -> f64 {
        self.prepare_ms
    }
}

struct RegisterVm {
    vm: RegoVM,
    input: Option<regorus::Value>,
    text: Option<String>,
    load_ms: f64,
    prepare_ms: f64,
}

impl RegisterVm {
    fn load(workload: &Workload) -> Result<Self, String> {
        let start = Instant::now();
        let mut engine = regorus_engine(workload)?;
        let load_ms = elapsed_ms(start);
        let start = Instant::now();
        for (name, text) in workload.modules() {
            engine
                .add_policy(name.to_owned(), text.to_owned())
                .map_err(|error| error.to_string())?;
        }
        let data = engine.get_data();
        let entrypoint: Arc<str> = workload.entrypoint.as_str().into();
        let compiled = engine
            .compile_with_entrypoint(&entrypoint)
            .map_err(|error| error.to_string())?;
        let program = Compiler::compile_from_policy(&compiled, &[&entrypoint])
            .map_err(|error| error.to_string())?;
        let mut vm = RegoVM::new_with_policy(compiled);
        // the default limit is below what some workloads need
        vm.set_max_instructions(usize::MAX);
        vm.load_program(program);
        vm.set_data(data).map_err(|error| error.to_string())?;
        let prepare_ms = elapsed_ms(start);
        Ok(Self {
            vm,
            input: regorus_input(workload)?,
            text: workload.input.clone(),
            load_ms,
            prepare_ms,
        })
    }
}

impl Contender for RegisterVm {
    fn decide(&mut self) {
        if let Some(input) = &self.input {
            self.vm.set_input(input.clone());
        }
        let _ = std::hint::black_box(self.vm.execute());
    }

    fn decide_json(&mut self) -> Option<String> {
        if let Some(text) = &self.text {
            self.vm.set_input(regorus::Value::from_json_str(text).ok()?);
        }
        self.vm.execute().ok()?.to_json_str().ok()
    }

    fn load_ms(&self) -> f64 {
        self.load_ms
    }

    fn prepare_ms(&self) -> f64 {
        self.prepare_ms
    }
}
