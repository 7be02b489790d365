//! The files of a crate, found as the compiler finds them.

use std::path::{Path, PathBuf};

use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use crate::cfg::Cfg;

/// The source files of the crate with this root, the root first, by their paths.
///
/// Files that cannot be read or parsed are returned too, and end the search there.
pub fn files(root: &Path, cfg: &Cfg) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let folder = root.parent().unwrap_or(Path::new("")).to_path_buf();
    follow(root.to_path_buf(), folder, cfg, &mut found);
    found
}

fn follow(path: PathBuf, folder: PathBuf, cfg: &Cfg, found: &mut Vec<(PathBuf, String)>) {
    if found.iter().any(|(known, _)| *known == path) {
        return;
    }
    let Ok(source) = std::fs::read_to_string(&path) else {
        return;
    };
    let parsed = syn::parse_file(&source);
    found.push((path.clone(), source));
    if let Ok(file) = parsed {
        let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
        modules(&file.items, &folder, &beside, cfg, found);
    }
}

/// Follows modules of a file whose modules live in `folder`; `beside` is where the file lies.
fn modules(
    items: &[Item],
    folder: &Path,
    beside: &Path,
    cfg: &Cfg,
    found: &mut Vec<(PathBuf, String)>,
) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        if !cfg.includes(&module.attrs) {
            continue;
        }
        let name = module.ident.to_string();
        let name = name.trim_start_matches("r#");
        match (&module.content, named_path(module)) {
            (Some((_, items)), None) => {
                let inner = folder.join(name);
                modules(items, &inner, &inner, cfg, found);
            }
            (Some((_, items)), Some(path)) => {
                let inner = beside.join(path);
                modules(items, &inner, &inner, cfg, found);
            }
            (None, Some(path)) => {
                let path = beside.join(path);
                let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                follow(path, folder, cfg, found);
            }
            (None, None) => {
                let flat = folder.join(format!("{name}.rs"));
                let nested = folder.join(name).join("mod.rs");
                let inner = folder.join(name);
                if flat.is_file() {
                    follow(flat, inner, cfg, found);
                } else if nested.is_file() {
                    follow(nested, inner, cfg, found);
                }
            }
        }
    }
}

/// The path of `#[path = "…"]`.
fn named_path(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else {
            return None;
        };
        match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            }) if pair.path.is_ident("path") => Some(path.value()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_found_where_the_compiler_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(
            "src/main.rs",
            "mod a; mod b { mod c; } #[path = \"odd.rs\"] mod d; #[cfg(test)] mod t; mod r#in;",
        );
        put("src/a.rs", "mod x;");
        put("src/a/x.rs", "not rust {");
        put("src/b/c.rs", "");
        put("src/odd.rs", "mod y;");
        put("src/y.rs", "");
        put("src/t.rs", "");
        put("src/in/mod.rs", "mod z;");
        put("src/in/z.rs", "");
        let found = files(&folder.path().join("src/main.rs"), &Cfg::default());
        let names: Vec<String> = found
            .iter()
            .map(|(path, _)| {
                path.strip_prefix(folder.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        assert_eq!(
            names,
            [
                "src/main.rs",
                "src/a.rs",
                "src/a/x.rs",
                "src/b/c.rs",
                "src/odd.rs",
                "src/y.rs",
                "src/in/mod.rs",
                "src/in/z.rs"
            ]
        );
    }
}
