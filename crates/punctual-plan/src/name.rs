//! Names: enums whose variants have one public name each, used in SQL, JSON and on the screen.

use core::fmt;

/// Makes an enum of named variants; further names after `|` are read and never written.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal $(| $alias:literal)*,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every variant, in the order of the documents.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The public name.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownName> {
                match text {
                    $($text $(| $alias)* => Ok($name::$variant),)+
                    _ => Err($crate::UnknownName::new(stringify!($name), text)),
                }
            }
        }
    };
}

pub(crate) use named;

/// A stored name that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    text: String,
}

impl UnknownName {
    pub(crate) fn new(what: &'static str, text: &str) -> Self {
        Self { what, text: text.to_owned() }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {} this version knows", self.text, self.what)
    }
}

impl core::error::Error for UnknownName {}
