//! A policy engine for the Rego language.
