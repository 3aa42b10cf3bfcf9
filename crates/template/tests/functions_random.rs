//! No function breaks down over its arguments, whatever they are.

use mizzen_template::{Call, Failure, Host, List, Map, Memory, Value, helm, injection, sprig};

const TEXTS: &[&str] = &[
    "",
    "a",
    "é 日本 x😀",
    "2006-01-02T15:04:05.999Z07:00",
    "Jan _2 15:04:05 2006 MST -0700 .000 ,999",
    "2020-02-30",
    "1.2.3-beta+x",
    ">=1.2, <2 || ^3.x",
    "http://u:p@[::1]:80/a%20b?q#f",
    "%zz",
    "../a//./b",
    "[a-",
    "(a|b)*?[[:alpha:]]\\pL",
    "\\Q..\\E{2,3}",
    "\\x{110000}\\777",
    "{\"a\":[1,{\"b\":null}]}",
    "[1,2",
    "a: b\n- c",
    "a = 1\n[b]\nc=\"x\"",
    "aGVsbG8=",
    "ME======",
    "-1.5h",
    "9223372036854775808",
    "0x1p99999",
    "1e400",
    "$1 ${x} $$ ${",
    "\u{0}\u{7f}\u{85}\u{feff}\u{2028}",
    "İıßǆᾳ",
    " \r\n\t",
    "HTTPServer2xx_a-b",
    "UTC",
    "1.x.*-",
    "__2",
    "[{\"name\":\"a\"}]",
];
const INTS: &[i64] = &[0, 1, -1, 2, 3, 7, 64, -3, 1000, i64::MAX, i64::MIN];
const FLOATS: &[f64] = &[0.0, -0.0, 1.5, -2.5, 1e21, 1e-7, f64::MAX, f64::NAN, f64::INFINITY];
const KEYS: &[&str] = &["a", "b", "host", "scheme", "path", "userinfo", ""];

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 32).unwrap_or_default() % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth > 2 { 7 } else { 12 }) {
            0 => Value::Nil,
            1 => Value::Bool(self.below(2) == 0),
            2 | 3 => Value::Int(self.one(INTS)),
            4 => Value::Int64(self.one(INTS)),
            5 => Value::Float(self.one(FLOATS)),
            6 | 7 => Value::text(self.one(TEXTS)),
            8 => List::new((0..self.below(4)).map(|_| self.value(depth + 1)).collect()).into(),
            9 => List::texts((0..self.below(3)).map(|_| self.one(TEXTS))).into(),
            10 => {
                let map = Map::texts();
                (0..self.below(3)).for_each(|_| map.insert(self.one(TEXTS), self.one(TEXTS)));
                map.into()
            }
            _ => {
                let map = Map::new();
                (0..self.below(4)).for_each(|_| map.insert(self.one(KEYS), self.value(depth + 1)));
                if self.below(9) == 0 {
                    map.insert("itself", map.clone());
                }
                map.into()
            }
        }
    }
}

#[derive(Default)]
struct Small(usize, Memory);

impl Host for Small {
    fn include(&mut self, _: &str, _: &Value) -> Result<String, Failure> {
        Ok(String::new())
    }

    fn tpl(&mut self, _: &str, _: &Value) -> Result<String, Failure> {
        Ok(String::new())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > 4 << 20 { Err(Failure::limit("that is enough")) } else { Ok(()) }
    }

    fn depth(&self) -> usize {
        200
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.1
    }
}

#[test]
fn no_function_panics() {
    let mut chance = Chance(88_172_645_463_325_252);
    let mut objects = Vec::new();
    for (name, function) in sprig::TABLE.iter().chain(helm::functions::TABLE).chain(injection::TABLE) {
        for _ in 0..1000 {
            let count = chance.below(5);
            let mut args: Vec<Value> = (0..count).map(|_| chance.value(0)).collect();
            if let (Some(last), Some(object)) = (args.last_mut(), objects.last())
                && chance.below(8) == 0
            {
                *last = Value::clone(object);
            }
            let call = &mut Call { name, args: &args, nils: 0, host: &mut Small::default() };
            // What it says does not matter here: a panic fails the test, and cargo shows it.
            if let Ok(value @ Value::Object(_)) = function(call) {
                objects.push(value);
            }
        }
    }
    assert!(!objects.is_empty(), "not one version or date was made");
}
