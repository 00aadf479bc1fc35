//! Settings that are said once: a field has its doc, its type and its default in one place.

/// A struct of settings, of which each may be left out.
macro_rules! settings {
    (
        $(#[$of_all:meta])*
        pub struct $of:ident {
            $($(#[$of_one:meta])* pub $name:ident: $type:ty = $default:expr,)+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
        $(#[$of_all])*
        pub struct $of {
            $($(#[$of_one])* pub $name: $type,)+
        }

        impl Default for $of {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }
    };
}
