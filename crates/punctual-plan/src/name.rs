//! Names: enums whose variants have one public name each, used in SQL, JSON and on the screen.

use core::fmt;
use core::str::FromStr;

/// A closed list of things that are chosen by name.
///
/// ```
/// use punctual_plan::{CatchUp, Named};
///
/// fn hint<T: Named>() -> String {
///     T::NAMES.join(", ")
/// }
/// assert_eq!(hint::<CatchUp>(), "skip, none, run_once, run_all, run_all_capped, fire_immediately, spread");
/// ```
pub trait Named: Copy + FromStr<Err = UnknownName> + 'static {
    /// Every variant, in the order of the documents.
    const ALL: &'static [Self];

    /// Every name that is read: that of each variant, followed by its aliases.
    const NAMES: &'static [&'static str];

    /// The public name.
    fn name(self) -> &'static str;
}

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

        impl $crate::Named for $name {
            const ALL: &'static [$name] = $name::ALL;
            const NAMES: &'static [&'static str] = &[$($text, $($alias,)*)+];

            fn name(self) -> &'static str {
                $name::name(self)
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
