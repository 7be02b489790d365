//! Calls and lists laid out as standard formatters do: on one line when they fit, otherwise one
//! item per line with a trailing comma.

/// A piece of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// Text that is not broken.
    Atom(String),
    /// A bracketed list.
    List {
        /// What stands before the items, e.g. `message=[`.
        open: String,
        /// The items.
        items: Vec<Layout>,
        /// The closing bracket.
        close: &'static str,
    },
    /// A list of which only the last item is broken, when the others fit before it.
    Hug(Box<Layout>),
}

impl Layout {
    /// A list between `open` and `close`.
    pub(crate) fn list(
        open: impl Into<String>,
        items: impl IntoIterator<Item = Layout>,
        close: &'static str,
    ) -> Self {
        Layout::List {
            open: open.into(),
            items: items.into_iter().collect(),
            close,
        }
    }

    /// A list that keeps all but its last item on the first line, as `f(a, {` … `})`.
    pub(crate) fn hugging(
        open: impl Into<String>,
        items: Vec<Layout>,
        close: &'static str,
    ) -> Self {
        Layout::Hug(Box::new(Layout::list(open, items, close)))
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
            Layout::List { items, .. } if !fits && !items.is_empty() => {
                self.render_broken(step, out, indent, width, reserve);
            }
            Layout::Hug(list) if !fits => {
                if !list.hug(step, out, indent, width, reserve) {
                    list.render_by(step, out, indent, width, reserve);
                }
            }
            _ => out.push_str(&flat),
        }
    }

    /// Renders a list with its last item broken; says whether it could.
    fn hug(
        &self,
        step: usize,
        out: &mut String,
        indent: usize,
        width: usize,
        reserve: usize,
    ) -> bool {
        let Layout::List { open, items, close } = self else {
            return false;
        };
        let Some((last @ Layout::List { open: inner, .. }, before)) = items.split_last() else {
            return false;
        };
        let mut head = open.clone();
        for item in before {
            item.flat(&mut head);
            head.push_str(", ");
        }
        let length = indent + head.chars().count() + inner.trim_end().chars().count();
        if head.contains('\n') || length > width {
            return false;
        }
        out.push_str(&head);
        // No width at all: the last item is broken, whatever its length.
        let reserve = reserve + close.chars().count();
        last.render_broken(step, out, indent, width, reserve);
        out.push_str(close);
        true
    }

    fn render_broken(
        &self,
        step: usize,
        out: &mut String,
        indent: usize,
        width: usize,
        reserve: usize,
    ) {
        match self {
            Layout::List { open, items, close } if !items.is_empty() => {
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
            other => other.render_by(step, out, indent, width, reserve),
        }
    }

    fn flat(&self, out: &mut String) {
        match self {
            Layout::Atom(text) => out.push_str(text),
            Layout::Hug(list) => list.flat(out),
            Layout::List { open, items, close } => {
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
        let atom = |text: &str| Layout::Atom(text.into());
        let call = Layout::list(
            "f(",
            [
                atom("first"),
                Layout::list("x=[", [atom("1"), atom("2")], "]"),
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
