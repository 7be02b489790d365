//! Constructs that a rewriter can get wrong; what it prints must not change.
#![deny(warnings)]
#![forbid(unsafe_code)]

mod inner;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};

const LIMIT: usize = if 3 > 2 { 4 } else { 5 };
static TABLE: [u8; LIMIT] = [1; LIMIT];
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| ["open", "shut"].into_iter().collect());

const fn clamp(n: u32) -> u32 {
    if n > 10 { 10 } else { n }
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Says when it is dropped.
struct Loud<'a>(&'a str, &'a RefCell<Vec<String>>);

impl Drop for Loud<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(format!("drop {}", self.0));
    }
}

impl Loud<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
}

#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Shape {
    Dot,
    Circle { radius: f64 },
    Named(String, u32),
}

struct Cursor {
    pos: usize,
}

impl Cursor {
    fn advance(&mut self) -> usize {
        self.pos += 1;
        self.pos
    }
    // Taken apart, the left side would be borrowed while the right side changes it.
    fn stuck(&mut self) -> bool {
        self.pos == self.advance()
    }
}

/// Has a method of a known name that takes itself.
struct Filter(String);

impl Filter {
    fn contains(self, other: &str) -> String {
        format!("{} contains {other}", self.0)
    }
}

struct Flags(bool);

impl std::ops::Not for &Flags {
    type Output = &'static str;
    fn not(self) -> &'static str {
        if self.0 { "unset" } else { "set" }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dot => f.write_str("dot"),
            Self::Circle { radius } if *radius > 10.0 => write!(f, "big circle"),
            Self::Circle { radius } => write!(f, "circle {radius}"),
            Self::Named(name, n) => write!(f, "{name} {}", if *n == 1 { "one" } else { "many" }),
        }
    }
}

fn generic<T: PartialOrd + fmt::Debug>(a: T, b: T) -> String {
    if a < b { format!("{a:?} < {b:?}") } else if a == b { "same".into() } else { format!("{a:?} > {b:?}") }
}

fn question(text: &str) -> Result<i64, Box<dyn std::error::Error>> {
    let n: i64 = text
        .trim()
        .parse()?; // with a comment
    let half = n
        .checked_div(2)
        .ok_or("no half")?;
    Ok(if half >= 21 { half } else { -half })
}

fn option(map: &HashMap<String, Vec<u32>>, key: &str) -> Option<u32> {
    let found = map.get(key)?;
    let first = *found.first()?;
    (first > 1).then_some(first)
}

fn words(text: &str) -> &'static str {
    match text {
        "" => "empty",
        "a" | "b" => "letter",
        "long \"quoted\"" => "quoted",
        _ if text.starts_with("x") && text.len() > 3 => "long x",
        other if WORDS.contains(other) => "known",
        _ => "other",
    }
}

fn numbers(n: Option<i32>) -> u8 {
    match n {
        Some(0) => 0,
        Some(1..=9) => 1,
        Some(10 | 20) => 2,
        Some(-5) => 3,
        Some(_) => 4,
        None => 5,
    }
}

fn temporaries(log: &RefCell<Vec<String>>) -> usize {
    let lock = Mutex::new(3);
    // The guard of the scrutinee lives through the whole match.
    let n = match *lock.lock().unwrap() {
        3 => lock.try_lock().map_or(1, |_| 2),
        _ => 0,
    };
    if Loud("a", log).len() == Loud("bb", log).len() {
        log.borrow_mut().push("equal".into());
    } else {
        log.borrow_mut().push("unequal".into());
    }
    let sum = Loud("ccc", log).len() + if Loud("d", log).len() > 0 { 1 } else { 0 };
    while Loud("e", log).len() > 1 {}
    let _kept = Some(Loud("f", log)).filter(|loud| loud.len() == 1);
    log.borrow_mut().push("end".into());
    n + sum
}

fn chains(value: Option<&str>, limit: Option<usize>) -> String {
    if let Some(text) = value && let Some(limit) = limit && text.len() > limit {
        return format!("long {text}");
    }
    if let Some(text) = value {
        if !text.is_empty() && (text.contains('a') || text.ends_with("z")) { return "az".into(); }
    }
    let Some(text) = value else { return "none".into() };
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(',') {
        if head.eq_ignore_ascii_case("STOP") { break; }
        rest = tail;
    }
    'outer: loop {
        for (i, c) in rest.chars().enumerate() {
            if c == 'q' { break 'outer format!("q at {i}"); }
        }
        break 'outer rest.to_owned();
    }
}

fn closures(numbers: &[i32]) -> Vec<i32> {
    let bound = 3;
    let mut seen = 0;
    let mut kept: Vec<i32> = numbers.iter().copied().filter(|n| *n > bound).map(|n| n * 2).collect();
    kept.retain(|n| { seen += 1; n % 4 == 0 || seen > 2 });
    kept.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let typed = |n: i32| -> bool { n == 8 };
    if kept.iter().any(|&n| typed(n)) { kept.push(seen); }
    kept
}

async fn step(n: u32) -> Result<u32, String> {
    if n == 0 { Err("zero".to_string()) } else { Ok(n - 1) }
}

async fn asynchronous(n: u32) -> Result<u32, String> {
    let first = step(n).await?;
    if first > step(n).await? { return Ok(99); }
    let second = async move { if step(first).await.is_ok() { 1 } else { 0 } }.await;
    let eager = step(first + 1).await.unwrap_or(7) == step(first + 1).await?;
    Ok(first + second + u32::from(eager))
}

// Variables that only a comparison looks at must not be kept across an await because of it.
async fn kept(owner: i64, n: u32) -> String {
    let (name, other) = (String::from("a"), String::from("b"));
    let first = step(n).await.unwrap_or(5);
    if owner == i64::from(first) { return "owner".into(); }
    let same = name == other;
    let second = step(first).await.unwrap_or(6);
    format!("{same} {second}")
}

fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) { return value; }
    }
}

fn operators() -> Vec<bool> {
    let s = String::from("text");
    let opt: Option<&str> = Some("text");
    let flag = &true;
    let bytes = b"ab";
    let tuple = (1, "x");
    vec![
        opt == Some(&s),
        !flag,
        s == "text",
        "text" == s,
        *"text" == *s,
        s.as_str() <= "tez",
        bytes == b"ab",
        tuple < (1, "y"),
        0.1 + 0.2 == 0.3,
        f64::from(2u8) != "NaN".parse().unwrap_or(0.0),
        'a' < 'b',
        Shape::Dot < Shape::Named(String::new(), 1),
        (Shape::Circle { radius: 1.0 }) == Shape::Circle { radius: 1.0 },
        s.len() as u64 > 3,
        [1, 2] == [1, 2],
        [3, 1].contains(&1) ^ false,
        (1..5).contains(&s.len()),
        matches!(s.as_str(), "text" | "texts"),
        matches!(tuple.0, 1..=3 if tuple.1 == "x"),
        s.chars().all(|c| c.is_alphabetic()),
        s.contains(|c: char| c == 'z'),
        s.starts_with(['t', 'u']),
        true && !false || s.is_empty(),
    ]
}

macro_rules! twice {
    ($e:expr) => { if $e == 2 { $e + 1 } else { $e } };
}

fn order(log: &RefCell<Vec<String>>) -> bool {
    let say = |name: &str, n: i32| { log.borrow_mut().push(name.to_owned()); n };
    say("left", 1) < say("right", 2) && say("third", 3) != say("fourth", 3) || say("fifth", 5) >= say("sixth", 5)
}

fn main() {
    let log = RefCell::new(Vec::new());
    println!("{} {} {}", LIMIT, TABLE[LIMIT - 1], clamp(12));
    DEPTH.with(|depth| if depth.get() == 0 { depth.set(1) });
    println!("{}", DEPTH.get());
    for shape in [Shape::Dot, Shape::Circle { radius: 2.5 }, Shape::Circle { radius: 11.0 }, Shape::Named("n".into(), 1), Shape::Named("n".into(), 2)] {
        println!("{shape} {shape:?}");
    }
    println!("{} {} {}", generic(1, 2), generic("b", "a"), generic(1.5, 1.5));
    for text in ["84", " 2", "x", "9223372036854775808", ""] {
        match question(text) { Ok(n) => println!("ok {n}"), Err(error) => println!("error {error}") }
    }
    let map: HashMap<String, Vec<u32>> = [("a".to_owned(), vec![7]), ("b".to_owned(), vec![])].into();
    let mut named: BTreeMap<&str, u32> = [("one", 1), ("two", 2)].into();
    named.insert("three", named["one"] + named["two"]);
    print!("{} {:?} ", named["three"], map["a"]);
    println!("{:?} {:?} {:?}", option(&map, "a"), option(&map, "b"), option(&map, "c"));
    for text in ["", "b", "long \"quoted\"", "xyzw", "open", "zzz"] { print!("{} ", words(text)); }
    for n in [Some(0), Some(4), Some(20), Some(-5), Some(99), None] { print!("{} ", numbers(n)); }
    println!("{}", temporaries(&log));
    println!("{} {}", order(&log), log.borrow().join(","));
    println!("{} {} {} {} {}", chains(Some("abc"), Some(2)), chains(Some("abz"), None), chains(None, None), chains(Some("x,STOP,y"), Some(9)), chains(Some("x,wq"), None));
    println!("{:?}", closures(&[1, 4, 5, 6]));
    println!("{:?} {:?}", run(asynchronous(3)), run(asynchronous(0)));
    println!("{} {} {}", run(kept(2, 3)), run(kept(9, 3)), size_of_val(&kept(1, 2)));
    println!("{:?}", operators());
    println!("{} {}", twice!(2), twice!(3));
    let mut cursor = Cursor { pos: 0 };
    println!("{} {}", cursor.stuck(), cursor.pos);
    println!("{} {}", Filter("f".into()).contains("g"), !&Flags(true));
    println!("{} {}", inner::deep::level(3), inner::text());
    println!("{}:{}", file!(), line!());
    let sorted: BTreeMap<_, _> = map.iter().map(|(k, v)| (k.as_str(), v.len())).collect();
    println!("{sorted:?} {:?} {:?}", sorted.get("a"), "k=v".split_once('=').map(|(k, _)| k));
    if let Some("panic") = std::env::args().nth(1).as_deref() {
        let empty: Vec<u32> = Vec::new();
        let n = empty.len();
        std::panic::catch_unwind(|| { let v: Option<u32> = None; v.unwrap() }).unwrap_err();
        std::panic::catch_unwind(move || empty[n + 2]).unwrap_err();
        std::process::exit(3);
    }
    if let Some("panics") = std::env::args().nth(1).as_deref() {
        for n in 0..20_000 { std::panic::catch_unwind(|| panic!("number {n}")).unwrap_err(); }
    }
}
