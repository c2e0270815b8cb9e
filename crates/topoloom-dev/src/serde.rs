//! The `serde` attributes of an item.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// What is in the `serde` attributes of an item.
pub fn options(attributes: &[Attribute]) -> Vec<Meta> {
    let own = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    let parsed = own.filter_map(|own| own.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok());
    parsed.flatten().collect()
}

/// The text that an option is given.
pub fn text_of(option: &Meta) -> Option<String> {
    let Meta::NameValue(pair) = option else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
