//! A declaration that was found and checked, and the checks before a run of it may start.

use super::context::{context, index};
use super::declaration_file;
use crate::check::Checked;
use crate::diagnostic::Severity;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::harness::{Kind, resolve};
use crate::plan::{Inputs, Plan};
use crate::project::{Index, SuperpowerFile};
use std::path::Path;

/// A declaration that was found and checked.
pub struct Loaded {
    pub file: SuperpowerFile,
    /// The contents of the project.
    pub index: Index,
    pub bytes: Vec<u8>,
    pub checked: Checked,
}

impl Loaded {
    /// Finds a superpower by name and checks it.
    pub fn find(engine: &Engine, root: &Path, name: &str) -> Result<Self, Refusal> {
        let index = index(engine, root);
        let file = index.superpower(name).cloned()?;
        let read = declaration_file::read(Some(root), &file.path)?;
        let checked = read.checked(&context(engine, Some(&index), Some(&file.path)));
        Ok(Self { file, index, bytes: read.bytes(), checked })
    }

    /// The plan for these inputs; refused if the declaration has errors.
    pub fn plan(&self, inputs: &Inputs) -> Result<Plan, Refusal> {
        let Some(declaration) = self.checked.declaration.clone() else { return Err(self.invalid()) };
        Ok(Plan::new(declaration, inputs)?)
    }

    /// The errors of the declaration, one line each.
    pub fn errors(&self) -> Vec<String> {
        let file = self.file.path.file_name().unwrap_or_default().to_string_lossy();
        let lines = self.checked.lines(&file).into_iter().zip(&self.checked.diagnostics);
        lines.filter(|(_, it)| it.severity == Severity::Error).map(|(line, _)| line).collect()
    }

    /// The refusal of a declaration with errors.
    pub fn invalid(&self) -> Refusal {
        Refusal::InvalidDeclaration {
            name: self.file.name.clone(),
            path: self.file.path.clone(),
            errors: self.errors(),
        }
    }
}

/// Refuses to start if the harness of a stage has no program.
pub fn require_harness(
    engine: &Engine,
    root: &Path,
    plan: &Plan,
    harness: Option<&str>,
) -> Result<(), Refusal> {
    let host = engine.host();
    for stage in (0..plan.total()).filter(|&stage| plan.has_action(stage)) {
        let own = plan.stage(stage).harness.as_ref().map(|harness| harness.value.as_str());
        let name = own.or(harness).unwrap_or(&host.config.harness);
        let resolved = resolve(name, &host.harnesses, Some(root))?;
        if host.config.headless && matches!(resolved.kind, Kind::Manual) {
            return Err(Refusal::ManualHeadless);
        }
    }
    Ok(())
}
