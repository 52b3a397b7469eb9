//! Words to choose from: one declaration gives the type, its names in files, its aliases and its part of the schema.

/// Declares an enum whose variants are words; the first word of a variant is its name, the others are aliases.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$variant_about:meta])* $variant:ident = $word:literal $(| $alias:literal)*,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_about])* $variant,)+
        }

        impl $name {
            /// The word by which it is declared and shown.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                match text.as_str() {
                    $($word $(| $alias)* => Ok($name::$variant),)+
                    _ => Err(serde::de::Error::custom(format!("`{text}` is none of the choices"))),
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": [$($word $(, $alias)*),+]})
            }
        }
    };
}

pub(super) use choice;
