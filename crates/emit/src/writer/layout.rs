//! Calls and lists laid out as standard formatters do: on one line when they fit, otherwise one
//! item per line with a trailing comma.

/// A piece of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Text that is not broken.
    Atom(String),
    /// A bracketed list.
    List {
        /// What stands before the items, e.g. `message=[`.
        open: String,
        /// The items.
        items: Vec<Piece>,
        /// The closing bracket.
        close: &'static str,
    },
}

impl Piece {
    /// A list between `open` and `close`.
    pub(crate) fn list(
        open: impl Into<String>,
        items: impl IntoIterator<Item = Piece>,
        close: &'static str,
    ) -> Self {
        Piece::List {
            open: open.into(),
            items: items.into_iter().collect(),
            close,
        }
    }

    /// Appends the piece at `indent` columns, in lines of at most `width` characters where that
    /// can be had, and leaves `reserve` characters for what follows it.
    pub(crate) fn render(&self, out: &mut String, indent: usize, width: usize, reserve: usize) {
        self.render_by(4, out, indent, width, reserve);
    }

    /// The same with another step of indentation. Blanks inside of brackets, as in `{ a }`, stay
    /// only on one line.
    pub(crate) fn render_by(
        &self,
        step: usize,
        out: &mut String,
        indent: usize,
        width: usize,
        reserve: usize,
    ) {
        let mut flat = String::new();
        self.flat(&mut flat);
        let fits = !flat.contains('\n') && indent + flat.chars().count() + reserve <= width;
        match self {
            Piece::List { open, items, close } if !fits && !items.is_empty() => {
                out.push_str(open.trim_end());
                for item in items {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent + step));
                    item.render_by(step, out, indent + step, width, 1);
                    out.push(',');
                }
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                out.push_str(close.trim_start());
            }
            _ => out.push_str(&flat),
        }
    }

    fn flat(&self, out: &mut String) {
        match self {
            Piece::Atom(text) => out.push_str(text),
            Piece::List { open, items, close } => {
                out.push_str(open);
                for (idx, item) in items.iter().enumerate() {
                    if idx > 0 {
                        out.push_str(", ");
                    }
                    item.flat(out);
                }
                out.push_str(close);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_does_not_fit_is_broken() {
        let atom = |text: &str| Piece::Atom(text.into());
        let call = Piece::list(
            "f(",
            [
                atom("first"),
                Piece::list("x=[", [atom("1"), atom("2")], "]"),
            ],
            ")",
        );
        let mut out = String::new();
        call.render(&mut out, 0, 80, 0);
        out.push('\n');
        call.render(&mut out, 0, 16, 0);
        insta::assert_snapshot!(out, @r"
        f(first, x=[1, 2])
        f(
            first,
            x=[1, 2],
        )
        ");
    }
}
