//! JSON written by others: a field of an unexpected type counts as absent, and the rest is still read.
//!
//! Agents change their output from release to release. Texts are borrowed from the line, and unused fields are skipped
//! without being built.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The key under which `serde_json` passes a number of arbitrary precision.
const NUMBER: &str = "$serde_json::private::Number";

/// Maximum count; larger values are clamped so that sums cannot overflow.
const MAX_COUNT: f64 = (1_u64 << 50) as f64;

/// A text, or absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text; empty if absent.
    pub fn str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// A number or boolean, or absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number(pub Option<f64>);

impl Number {
    /// Whether it is true, or not zero.
    pub fn yes(self) -> bool {
        self.0.is_some_and(|n| n != 0.0)
    }

    /// An amount of money; `None` if negative or not finite.
    pub fn amount(self) -> Option<f64> {
        self.0.filter(|n| n.is_finite() && *n >= 0.0)
    }

    /// A count that is small enough to be added up.
    pub fn count(self) -> u64 {
        self.0.unwrap_or_default().clamp(0.0, MAX_COUNT) as u64
    }
}

/// An object of type `T`, or absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<T>(pub Option<Box<T>>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Object<T> {
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

/// A list of objects that can be read as `T`; a text alone counts as a list of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<'a, T> {
    pub items: Vec<T>,
    /// Set if the list is a text.
    pub text: Option<Cow<'a, str>>,
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self { items: Vec::new(), text: None }
    }
}

/// How all four types handle unexpected values.
macro_rules! nothing {
    ($($visit:ident: $kind:ty),*) => {
        $(fn $visit<E>(self, _: $kind) -> Result<Self::Value, E> { Ok(Self::Value::default()) })*
        fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("anything") }
    };
}

fn skip_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Reader<'a> {
            type Value = Text<'a>;
            nothing!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Text<'a>, A::Error> {
                skip_seq(seq).map(|()| Text(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text<'a>, A::Error> {
                skip_map(map).map(|()| Text(None))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Number;
            nothing!(visit_str: &str);
            fn visit_bool<E>(self, value: bool) -> Result<Number, E> {
                Ok(Number(Some(f64::from(u8::from(value)))))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(Some(value)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Number, A::Error> {
                skip_seq(seq).map(|()| Number(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
                let mut number = None;
                while let Some(key) = map.next_key::<Cow<'_, str>>()? {
                    if key == NUMBER {
                        number = map.next_value::<String>()?.parse().ok();
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Number(number))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;
            nothing!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Object<T>, A::Error> {
                skip_seq(seq).map(|()| Object(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|value| Object(Some(Box::new(value))))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for List<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<'a, T>(PhantomData<(&'a (), T)>);
        impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for Reader<'a, T> {
            type Value = List<'a, T>;
            nothing!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<List<'a, T>, E> {
                Ok(List { items: Vec::new(), text: Some(Cow::Borrowed(text)) })
            }
            fn visit_str<E>(self, text: &str) -> Result<List<'a, T>, E> {
                Ok(List { items: Vec::new(), text: Some(Cow::Owned(text.to_owned())) })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<'a, T>, A::Error> {
                let mut items = Vec::new();
                while let Some(Object(item)) = seq.next_element::<Object<T>>()? {
                    items.extend(item.map(|item| *item));
                }
                Ok(List { items, text: None })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<List<'a, T>, A::Error> {
                skip_map(map).map(|()| List::default())
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Text<'a>,
        n: Number,
    }

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default)]
    struct Outer<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        number: Number,
        #[serde(borrow)]
        object: Object<Inner<'a>>,
        #[serde(borrow)]
        list: List<'a, Inner<'a>>,
    }

    #[test]
    fn every_field_accepts_a_value_of_every_type() {
        let kinds =
            ["null", "true", "7", "-7", "1.5e3", "123456789012345678901234567890", "\"t\"", "\"\\u00e9\""];
        let nested =
            ["[]", "[1,\"a\",{\"name\":\"x\",\"n\":2}]", "{}", "{\"name\":\"y\",\"n\":3.5,\"other\":[{}]}"];
        for value in kinds.iter().chain(&nested) {
            let json = format!(
                "{{\"text\":{value},\"number\":{value},\"object\":{value},\"list\":{value},\"z\":{value}}}"
            );
            serde_json::from_str::<Outer<'_>>(&json).unwrap_or_else(|e| panic!("{value}: {e}"));
        }
        let read = |v: &str| serde_json::from_str::<Number>(v).unwrap();
        assert_eq!(
            (read("7").count(), read("1.5").0, read("true").yes(), read("\"7\"").0),
            (7, Some(1.5), true, None)
        );
        let list: List<'_, Inner<'_>> = serde_json::from_str(nested[1]).unwrap();
        assert_eq!((list.items.len(), list.items[0].name.str(), list.items[0].n.count()), (1, "x", 2));
    }
}
