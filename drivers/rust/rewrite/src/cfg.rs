//! Which parts of a source are compiled at all.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The configuration that the compiler was called with.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    set: BTreeSet<String>,
}

impl Cfg {
    /// From the words after `--cfg`, and the lines of `rustc --print cfg`.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words = words.into_iter().map(|word| word.replace(' ', ""));
        Self {
            set: words.filter(|word| !word.is_empty()).collect(),
        }
    }

    /// Whether what carries these attributes is compiled, and is no test.
    pub(crate) fn includes(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().all(|attribute| {
            if attribute.path().is_ident("test") || attribute.path().is_ident("bench") {
                return false;
            }
            if !attribute.path().is_ident("cfg") {
                return true;
            }
            // What cannot be read is the compiler's affair; taking it as set loses nothing.
            attribute
                .parse_args::<Meta>()
                .map_or(true, |meta| self.holds(&meta))
        })
    }

    fn holds(&self, meta: &Meta) -> bool {
        match meta {
            Meta::Path(path) => path
                .get_ident()
                .is_none_or(|ident| ident == "true" || self.set.contains(&ident.to_string())),
            Meta::NameValue(pair) => {
                let Expr::Lit(ExprLit {
                    lit: Lit::Str(value),
                    ..
                }) = &pair.value
                else {
                    return true;
                };
                pair.path.get_ident().is_none_or(|ident| {
                    self.set.contains(&format!("{ident}=\"{}\"", value.value()))
                })
            }
            Meta::List(list) => {
                let inner = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
                let Ok(inner) = inner else { return true };
                if list.path.is_ident("not") {
                    !inner.iter().all(|meta| self.holds(meta))
                } else if list.path.is_ident("any") {
                    inner.iter().any(|meta| self.holds(meta))
                } else {
                    inner.iter().all(|meta| self.holds(meta))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn includes(item: &str) -> bool {
        let cfg = Cfg::new(["unix", "feature=\"json\"", "target_os = \"linux\""]);
        let file = syn::parse_file(item).unwrap();
        let syn::Item::Fn(item) = &file.items[0] else {
            panic!("a function")
        };
        cfg.includes(&item.attrs)
    }

    #[test]
    fn conditions_are_evaluated_as_the_compiler_does() {
        assert!(includes("#[cfg(unix)] fn f() {}"));
        assert!(includes("#[cfg(all(unix, feature = \"json\"))] fn f() {}"));
        assert!(includes(
            "#[cfg(any(windows, target_os = \"linux\"))] fn f() {}"
        ));
        assert!(!includes("#[cfg(not(unix))] fn f() {}"));
        assert!(!includes("#[cfg(feature = \"xml\")] fn f() {}"));
        assert!(!includes("#[cfg(test)] fn f() {}"));
        assert!(!includes("#[tokio::main] #[test] fn f() {}"));
    }
}
