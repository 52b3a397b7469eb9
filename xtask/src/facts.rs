//! What a Rust file says, as a flat list: the paths, macros, methods, texts, attributes, modules and functions in it.
//!
//! Start with [`Kind`]. The inside of a macro call is not parsed by the compiler's grammar; [`Reader`] walks its
//! tokens instead, so that nothing hides in a `vec![…]`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, FnArg, Item, Lit, LitStr, Meta, Pat, Path, Signature, Token, Type, UseTree,
};

/// One thing that stands on one line.
#[derive(Debug)]
pub(crate) struct Fact {
    /// Line in the file, from 1.
    pub(crate) line: usize,
    /// Whether it is only compiled for tests.
    pub(crate) is_test: bool,
    /// What it is.
    pub(crate) kind: Kind,
}

/// The kinds of things that rules ask about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `a::b::c` in an expression, a type or (one for each name) a `use`.
    Path(String),
    /// The name before a `!`, without the path before it.
    Macro(String),
    /// The name after a dot, if it is called.
    Method(String),
    /// What a string literal holds.
    Text(String),
    /// The path of an attribute.
    Attribute(String),
    /// `mod name;` or `mod name { … }`.
    Module { name: String, is_inline: bool },
    /// A function with a signature of its own choosing, or one that a trait dictates.
    Function(Function),
}

/// The size of a function.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// From the line of `fn` to the closing brace.
    pub(crate) lines: usize,
    /// Parameters, `self` included, as clippy counts them.
    pub(crate) parameters: usize,
    /// Names of the parameters whose type is `bool`.
    pub(crate) flags: Vec<String>,
    /// Inside `impl Trait for Type`: the trait chose the signature, and is itself looked at where it is ours.
    pub(crate) is_dictated: bool,
}

/// Collects the facts of a file, in reading order.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) facts: Vec<Fact>,
    is_test: bool,
    is_dictated: bool,
}

impl Reader {
    fn add(&mut self, line: usize, kind: Kind) {
        self.facts.push(Fact { line, is_test: self.is_test, kind });
    }

    /// Goes on inside something with these attributes, which may make it test code.
    fn inside(&mut self, attributes: &[Attribute], go_on: impl FnOnce(&mut Self)) {
        let before = self.is_test;
        self.is_test |= attributes.iter().any(makes_test);
        go_on(self);
        self.is_test = before;
    }

    fn function(&mut self, signature: &Signature, body: Option<&Block>) {
        let first = signature.fn_token.span.start().line;
        let last = body.map_or(first, |block| block.brace_token.span.close().end().line);
        let function = Function {
            name: signature.ident.to_string(),
            lines: last - first + 1,
            parameters: signature.inputs.len(),
            flags: signature.inputs.iter().filter_map(flag).collect(),
            is_dictated: self.is_dictated,
        };
        self.add(first, Kind::Function(function));
    }

    fn imported(&mut self, tree: &UseTree, above: &str) {
        match tree {
            UseTree::Path(path) => self.imported(&path.tree, &format!("{above}{}::", path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.imported(item, above)),
            UseTree::Name(name) => {
                self.add(name.ident.span().start().line, Kind::Path(format!("{above}{}", name.ident)));
            }
            UseTree::Rename(name) => {
                self.add(name.ident.span().start().line, Kind::Path(format!("{above}{}", name.ident)));
            }
            UseTree::Glob(glob) => {
                self.add(glob.star_token.span.start().line, Kind::Path(format!("{above}*")));
            }
        }
    }

    /// Reads the tokens of a macro call: paths, methods, texts, macros and attributes look the same there.
    fn tokens(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let line = tokens[at].span().start().line;
            let rest = &tokens[at + 1..];
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                        self.add(line, Kind::Text(text.value()));
                    }
                }
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute_tokens(rest),
                TokenTree::Ident(_) => {
                    let (name, length) = path_of(&tokens[at..]);
                    let before = at.checked_sub(1).map(|before| &tokens[before]);
                    self.add(line, named(name, before, &tokens[at + length..]));
                    at += length - 1;
                }
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    fn attribute_tokens(&mut self, rest: &[TokenTree]) {
        let Some(TokenTree::Group(group)) = rest.first() else { return };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        if let Some(TokenTree::Ident(name)) = inner.first() {
            self.add(name.span().start().line, Kind::Attribute(path_of(&inner).0));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_file(&mut self, file: &'ast syn::File) {
        self.inside(&file.attrs, |reader| visit::visit_file(reader, file));
    }

    fn visit_item(&mut self, item: &'ast Item) {
        self.inside(attributes(item), |reader| visit::visit_item(reader, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        // A function inside a method of a trait is free to choose its signature again.
        let before = std::mem::take(&mut self.is_dictated);
        self.function(&item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
        self.is_dictated = before;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.inside(&item.attrs, |reader| {
            reader.function(&item.sig, Some(&item.block));
            visit::visit_impl_item_fn(reader, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, item.default.as_ref());
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = std::mem::replace(&mut self.is_dictated, item.trait_.is_some());
        visit::visit_item_impl(self, item);
        self.is_dictated = before;
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let kind = Kind::Module { name: item.ident.to_string(), is_inline: item.content.is_some() };
        self.add(item.mod_token.span.start().line, kind);
        visit::visit_item_mod(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.imported(&item.tree, "");
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if let Some(first) = path.segments.first() {
            self.add(first.ident.span().start().line, Kind::Path(joined(path)));
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        self.add(call.method.span().start().line, Kind::Method(call.method.to_string()));
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.add(text.span().start().line, Kind::Text(text.value()));
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let line = call.bang_token.span.start().line;
        self.add(line, Kind::Macro(last_segment(&joined(&call.path)).to_owned()));
        self.tokens(call.tokens.clone());
    }

    /// Texts inside attributes, doc comments above all, are no texts of the program.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.add(attribute.pound_token.span.start().line, Kind::Attribute(joined(attribute.path())));
        if attribute.path().is_ident("cfg_attr")
            && let Ok(nested) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        {
            let line = attribute.pound_token.span.start().line;
            nested.iter().skip(1).for_each(|meta| self.add(line, Kind::Attribute(joined(meta.path()))));
        }
    }
}

/// The feature with which rules can be taken out; only tests have it.
const SWITCHES: &str = "rule-switches";

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`; not `#[cfg(not(test))]`.
fn makes_test(attribute: &Attribute) -> bool {
    if attribute.path().is_ident("cfg") {
        return attribute.parse_args::<Meta>().is_ok_and(|condition| needs_test(&condition));
    }
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "test")
}

/// Whether a condition can only hold in a build for tests.
fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::NameValue(pair) => {
            let is_switches = |lit: &Lit| matches!(lit, Lit::Str(name) if name.value() == SWITCHES);
            pair.path.is_ident("feature")
                && matches!(&pair.value, Expr::Lit(value) if is_switches(&value.lit))
        }
        Meta::List(list) if list.path.is_ident("all") => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            parts.is_ok_and(|parts| parts.iter().any(needs_test))
        }
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The parameter's name if its type is `bool`.
fn flag(parameter: &FnArg) -> Option<String> {
    let FnArg::Typed(parameter) = parameter else { return None };
    let Type::Path(kind) = parameter.ty.as_ref() else { return None };
    let name = match parameter.pat.as_ref() {
        Pat::Ident(name) => name.ident.to_string(),
        _ => "_".to_owned(),
    };
    kind.path.is_ident("bool").then_some(name)
}

fn joined(path: &Path) -> String {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::")
}

fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// What a name among tokens is, judged by the token before and those after it.
fn named(name: String, before: Option<&TokenTree>, after: &[TokenTree]) -> Kind {
    let is_macro = is_mark(after.first(), '!') && matches!(after.get(1), Some(TokenTree::Group(_)));
    let is_called =
        matches!(after.first(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    if is_macro {
        Kind::Macro(last_segment(&name).to_owned())
    } else if is_called && is_mark(before, '.') {
        Kind::Method(name)
    } else {
        Kind::Path(name)
    }
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The path at the start of `tokens` and how many tokens it takes.
fn path_of(tokens: &[TokenTree]) -> (String, usize) {
    let (mut name, mut length) = (tokens[0].to_string(), 1);
    while let [colon, again, TokenTree::Ident(next), ..] = &tokens[length..] {
        if !(is_mark(Some(colon), ':') && is_mark(Some(again), ':')) {
            break;
        }
        name = format!("{name}::{next}");
        length += 3;
    }
    (name, length)
}
