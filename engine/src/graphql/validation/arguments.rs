//! Validation rules for arguments and directives.

use hashbrown::HashSet;

use super::super::ast::{ArgumentNode, DirectiveNode, SourcePosition};
use super::super::parser::ParseResult;
use super::super::type_system::{DirectiveDef, InputOrField, Named};
use super::DocumentValidator;
use super::suggestions::HINT;

impl<'d> DocumentValidator<'d> {
    /// Checks a directive, after its arguments.
    pub(super) fn directive_rules(
        &mut self,
        directive: &'d DirectiveNode<'d>,
        definition: Option<&'d DirectiveDef>,
        location: &'static str,
    ) -> ParseResult<()> {
        let (name, position) = (&directive.name, directive.position);
        if let Some(definition) = definition {
            self.check_argument_names(
                &definition.arguments,
                &directive.arguments,
                position,
                |argument| format!("argument \"{argument}\" on directive \"@{name}\""),
            )?;
            let mut locations = definition.locations.iter();
            if locations.all(|allowed| allowed.as_ref() != location)
                // fragments are visited more than once
                && self.memory.misplaced.insert(directive)
            {
                let message = format!("Directive \"@{name}\" may not be used on {location}.");
                self.report(message, position)?;
            }
            self.required_arguments(
                &definition.arguments,
                &directive.arguments,
                position,
                || format!("Directive \"@{name}\""),
            )?;
        } else {
            self.report(format!("Unknown directive \"@{name}\"."), position)?;
        }
        self.unique_arguments(&directive.arguments)
    }

    /// Checks that directives at one location are unique.
    pub(super) fn unique_directives(
        &mut self,
        directives: &'d [DirectiveNode<'d>],
    ) -> ParseResult<()> {
        if directives.len() < 2 {
            return Ok(());
        }
        let mut names = HashSet::new();
        for directive in directives {
            let name = directive.name.as_ref();
            let definition = self.types.directive(name);
            if !names.insert(name) && definition.is_none_or(|definition| !definition.repeatable) {
                let message =
                    format!("The directive \"@{name}\" can only be used once at this location.");
                self.report(message, directive.position)?;
            }
        }
        Ok(())
    }

    /// Rejects undefined arguments. `describe` describes an argument with its owner.
    pub(super) fn check_argument_names(
        &mut self,
        parameters: &'d Named<InputOrField>,
        arguments: &'d [ArgumentNode<'d>],
        position: SourcePosition,
        describe: impl Fn(&str) -> String,
    ) -> ParseResult<()> {
        for argument in arguments {
            let name = argument.name.as_ref();
            if parameters.get(name).is_some() {
                continue;
            }
            let hint = self.near_names(HINT, name, parameters.names(), position)?;
            self.report(format!("Unknown {}.{hint}", describe(name)), position)?;
        }
        Ok(())
    }

    /// Rejects missing required arguments. `owner` describes their owner.
    pub(super) fn required_arguments(
        &mut self,
        parameters: &'d Named<InputOrField>,
        arguments: &'d [ArgumentNode<'d>],
        position: SourcePosition,
        owner: impl Fn() -> String,
    ) -> ParseResult<()> {
        for (name, argument) in parameters.iter() {
            let required = argument.of.non_null && argument.default.is_none();
            if required {
                self.spend(arguments.len(), position)?;
            }
            if required && arguments.iter().all(|argument| argument.name != name) {
                let owner = owner();
                let message = format!(
                    "{owner} argument \"{name}\" of type \"{}\" is required, but it was not provided.",
                    argument.of
                );
                self.report(message, position)?;
            }
        }
        Ok(())
    }

    pub(super) fn unique_arguments(
        &mut self,
        arguments: &'d [ArgumentNode<'d>],
    ) -> ParseResult<()> {
        if arguments.len() < 2 {
            return Ok(());
        }
        let (mut names, mut reported) = (HashSet::new(), HashSet::new());
        for argument in arguments {
            let name = argument.name.as_ref();
            if !names.insert(name) && reported.insert(name) {
                let message = format!("There can be only one argument named \"{name}\".");
                self.report(message, argument.position)?;
            }
        }
        Ok(())
    }
}
