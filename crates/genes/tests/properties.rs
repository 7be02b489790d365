//! What holds for every gene: samples and mutants are valid, mutants differ, crossing keeps both
//! valid, printing and reading agree, a breach breaks one rule, and the seed decides everything.

use std::sync::Arc;

use fastrand::Rng;
use isobath_genes::{
    AdditionalProperties, ArrayDomain, BinaryDomain, DateTime, DateTimeKind, Domain, Example,
    Field, FloatDomain, Gene, GeneConfig, IntegerDomain, Model, ModelBuilder, Node, NodeId,
    ObjectDomain, Pattern, PatternDomain, Reference, TextDomain, Unresolved, Value, plain, same,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A schema to build a model from; proptest shrinks it.
#[derive(Clone, Debug)]
enum Plan {
    Null,
    Boolean,
    Integer(i64, u32, u8),
    Decimal(i32, u32, u8),
    Float(f64, f64),
    Text(u32, u32),
    Pattern(usize),
    Format(usize),
    DateTime(usize),
    Binary(u32, u32),
    Enum(u8),
    Array(Box<Plan>, u32, u32, bool),
    Object(Vec<(Plan, bool)>, bool),
    Map(Box<Plan>, u32),
    Choice(Vec<Plan>),
    Nullable(Box<Plan>),
    Recursive(Box<Plan>),
}

const PATTERNS: [&str; 5] = [
    r"^[A-Z]{2}\d{3}$",
    r"^(cat|dog)s?(-[a-z]+)*$",
    r"\d+",
    r"^[^@ ]+@x$",
    r"^.{3,}$",
];
const FORMATS: [&str; 5] = ["uuid", "email", "ipv4", "uri", "hostname"];
const MOMENTS: [DateTimeKind; 5] = [
    DateTimeKind::Date,
    DateTimeKind::Time,
    DateTimeKind::DateTime,
    DateTimeKind::LocalTime,
    DateTimeKind::LocalDateTime,
];

fn leaf() -> impl Strategy<Value = Plan> {
    prop_oneof![
        Just(Plan::Null),
        Just(Plan::Boolean),
        (any::<i64>(), any::<u32>(), 1..7u8).prop_map(|(a, n, s)| Plan::Integer(a, n, s)),
        (-50i64..50, 0..20u32, 1..4u8).prop_map(|(a, n, s)| Plan::Integer(a, n, s)),
        (-999..999i32, 0..5000u32, 0..4u8).prop_map(|(a, n, s)| Plan::Decimal(a, n, s)),
        (-1e3..1e3, 0.0..1e4).prop_map(|(a, n)| Plan::Float(a, n)),
        (0..9u32, 0..9u32).prop_map(|(a, n)| Plan::Text(a, n)),
        (0..PATTERNS.len()).prop_map(Plan::Pattern),
        (0..FORMATS.len()).prop_map(Plan::Format),
        (0..MOMENTS.len()).prop_map(Plan::DateTime),
        (0..9u32, 0..9u32).prop_map(|(a, n)| Plan::Binary(a, n)),
        (1..6u8).prop_map(Plan::Enum),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..3u32, 0..3u32, any::<bool>()).prop_map(|(p, a, n, u)| Plan::Array(
                p.into(),
                a,
                n,
                u
            )),
            (
                prop::collection::vec((inner.clone(), any::<bool>()), 0..5),
                any::<bool>()
            )
                .prop_map(|(fields, closed)| Plan::Object(fields, closed)),
            (inner.clone(), 0..3u32).prop_map(|(p, n)| Plan::Map(p.into(), n)),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Plan::Choice),
            inner.clone().prop_map(|p| Plan::Nullable(p.into())),
            inner.prop_map(|p| Plan::Recursive(p.into())),
        ]
    })
}

fn add(builder: &mut ModelBuilder, plan: &Plan) -> NodeId {
    let domain = match plan {
        Plan::Null => Domain::Null,
        Plan::Boolean => Domain::Boolean,
        Plan::Integer(min, n, step) => {
            let (min, step) = (i128::from(*min), i128::from(*step));
            let max = min + i128::from(*n) + step;
            let domain = IntegerDomain::with_step(Some(min), Some(max), step);
            Domain::Integer(domain.expect("at least one multiple in a range of a step"))
        }
        Plan::Decimal(min, n, scale) => {
            let min = i128::from(*min);
            let domain = IntegerDomain::decimal(Some(min), Some(min + i128::from(*n)), 1, *scale);
            Domain::Integer(domain.expect("min is allowed"))
        }
        Plan::Float(min, n) => {
            Domain::Float(FloatDomain::new(Some(*min), Some(min + n)).expect("min is allowed"))
        }
        Plan::Text(min, n) => {
            Domain::Text(TextDomain::new(*min, Some(min + n)).expect("min below max"))
        }
        Plan::Pattern(i) => {
            let pattern = Arc::new(Pattern::new(PATTERNS[*i]).expect("a pattern we support"));
            Domain::Pattern(PatternDomain::new(pattern, 0, None).expect("it has texts"))
        }
        Plan::Format(i) => {
            Domain::Pattern(PatternDomain::format(FORMATS[*i], 0, None).expect("known"))
        }
        Plan::DateTime(i) => Domain::DateTime(MOMENTS[*i]),
        Plan::Binary(min, n) => {
            Domain::Binary(BinaryDomain::new(*min, Some(min + n)).expect("min below max"))
        }
        Plan::Enum(n) => Domain::Enum(
            [
                json!("a"),
                json!(1),
                json!(true),
                json!([2]),
                json!(null),
                json!("b"),
            ]
            .into_iter()
            .take(usize::from(*n))
            .map(Arc::new)
            .collect(),
        ),
        Plan::Array(item, min, n, unique) => {
            let item = add(builder, item);
            // Whether enough different items exist is the builder's business, not the gene's.
            let min = if *unique { (*min).min(1) } else { *min };
            Domain::Array(ArrayDomain {
                item,
                min,
                max: Some(min + n),
                unique: *unique,
            })
        }
        Plan::Object(fields, closed) => {
            let fields = fields
                .iter()
                .enumerate()
                .map(|(i, (plan, required))| Field {
                    name: format!("f~{i}/").as_str().into(),
                    node: add(builder, plan),
                    required: *required,
                })
                .collect();
            Domain::Object(ObjectDomain {
                fields,
                extra: None,
                closed: *closed,
                min: 0,
                max: None,
            })
        }
        Plan::Map(value, min) => {
            let key = builder.add(Domain::Text(TextDomain::any()));
            let value = add(builder, value);
            Domain::Object(ObjectDomain {
                fields: Box::default(),
                extra: Some(AdditionalProperties { key, value }),
                closed: false,
                min: *min,
                max: Some(min + 2),
            })
        }
        Plan::Choice(options) => {
            Domain::Choice(options.iter().map(|plan| add(builder, plan)).collect())
        }
        Plan::Nullable(inner) => {
            let id = add(builder, inner);
            if let Some(node) = builder.get_mut(id) {
                node.nullable = true;
            }
            return id;
        }
        Plan::Recursive(inner) => {
            let id = builder.reserve();
            let inner = add(builder, inner);
            let children = builder.add(Domain::Array(ArrayDomain {
                item: id,
                min: 0,
                max: None,
                unique: false,
            }));
            let field = |name: &str, node, required| Field {
                name: name.into(),
                node,
                required,
            };
            builder.define(
                id,
                Domain::Object(ObjectDomain {
                    fields: [
                        field("value", inner, true),
                        field("children", children, false),
                        field("parent", id, false),
                    ]
                    .into(),
                    extra: None,
                    closed: true,
                    min: 0,
                    max: None,
                }),
            );
            return id;
        }
    };
    builder.add(domain)
}

fn model_of(plan: &Plan) -> (Arc<Model>, NodeId) {
    let mut builder = ModelBuilder::new();
    let root = add(&mut builder, plan);
    (Arc::new(builder.finish()), root)
}

fn json_of(gene: &Gene) -> Json {
    gene.to_json(&Unresolved)
        .expect("no plan is absent at its root")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn samples_and_mutants_are_valid_and_mutants_differ(plan in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let mut gene = Gene::sample(&model, root, &mut rng, &config);
        prop_assert_eq!(gene.check(), Ok(()), "sample {}", json_of(&gene));
        for _ in 0..12 {
            let before = json_of(&gene);
            let Some(_) = gene.mutate(&mut rng, &config) else { break };
            let after = json_of(&gene);
            prop_assert_eq!(gene.check(), Ok(()), "{} became {}", before, after);
            prop_assert_ne!(before, after);
        }
    }

    #[test]
    fn crossing_keeps_both_valid(plan in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let mut a = Gene::sample(&model, root, &mut rng, &config);
        let mut b = Gene::sample(&model, root, &mut rng, &config);
        for _ in 0..4 {
            a.crossover(&mut b, &mut rng);
            prop_assert_eq!(a.check(), Ok(()), "left {}", json_of(&a));
            prop_assert_eq!(b.check(), Ok(()), "right {}", json_of(&b));
        }
    }

    #[test]
    fn small_and_large_steps_are_valid_differ_and_say_what_they_are(plan in leaf(), seed: u64) {
        let (model, root) = model_of(&plan);
        for large_step in [0.0, 1.0] {
            let config = GeneConfig { large_step, ..GeneConfig::default() };
            let mut rng = Rng::with_seed(seed);
            let mut gene = Gene::sample(&model, root, &mut rng, &config);
            for _ in 0..6 {
                let before = json_of(&gene);
                let Some(change) = gene.mutate(&mut rng, &config) else { break };
                prop_assert_eq!(change.large, large_step > 0.5);
                prop_assert_eq!(gene.check(), Ok(()), "{} became {}", before, json_of(&gene));
                prop_assert_ne!(before, json_of(&gene));
            }
        }
    }

    #[test]
    fn crossing_loses_nothing(plan in leaf(), seed: u64) {
        // Free text is cut; everything else is one of the two values.
        if matches!(plan, Plan::Text(..)) {
            return Ok(());
        }
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let mut a = Gene::sample(&model, root, &mut rng, &config);
        let mut b = Gene::sample(&model, root, &mut rng, &config);
        let (left, right) = (json_of(&a), json_of(&b));
        let mut n_exchanged = 0;
        for _ in 0..64 {
            let before = json_of(&a);
            a.crossover(&mut b, &mut rng);
            n_exchanged += usize::from(json_of(&a) != before);
            let now = (json_of(&a), json_of(&b));
            prop_assert!(now == (left.clone(), right.clone()) || now == (right.clone(), left.clone()));
        }
        prop_assert!(n_exchanged > 0 || left == right);
    }

    #[test]
    fn examples_are_values_like_others(plan in plan(), seed: u64) {
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let (model, root) = model_of(&plan);
        let example = json_of(&Gene::sample(&model, root, &mut rng, &config));
        let mut builder = ModelBuilder::new();
        let root = add(&mut builder, &plan);
        if let Some(node) = builder.get_mut(root) {
            node.examples.push(Example::new(None, example.clone()));
        }
        let model = Arc::new(builder.finish());
        let always = GeneConfig { example: 1.0, ..GeneConfig::default() };
        let mut a = Gene::sample(&model, root, &mut rng, &always);
        prop_assert!(same(&json_of(&a), &example));
        let mut b = Gene::sample(&model, root, &mut rng, &config);
        a.crossover(&mut b, &mut rng);
        for gene in [&mut a, &mut b] {
            prop_assert_eq!(gene.check(), Ok(()));
            gene.mutate(&mut rng, &config);
            prop_assert_eq!(gene.check(), Ok(()));
        }
    }

    #[test]
    fn impossible_moments_keep_their_parts(i in 0..MOMENTS.len(), seed: u64) {
        let kind = MOMENTS[i];
        let (model, root) = model_of(&Plan::DateTime(i));
        let config = GeneConfig { invalid_time: 1.0, ..GeneConfig::default() };
        let mut rng = Rng::with_seed(seed);
        let mut gene = Gene::sample(&model, root, &mut rng, &config);
        prop_assert!(gene.check().is_err(), "{} exists", json_of(&gene));
        let Value::DateTime(date_time) = *gene.value() else { panic!("a moment") };
        let read = DateTime::read(json_of(&gene).as_str().expect("a text"), kind);
        prop_assert_eq!(read, Some(date_time));
        // The next step leads back to what exists.
        gene.mutate(&mut rng, &GeneConfig::default());
        prop_assert_eq!(gene.check(), Ok(()));
    }

    #[test]
    fn what_is_printed_reads_back(plan in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let gene = Gene::sample(&model, root, &mut rng, &config);
        let json = json_of(&gene);
        let read = Gene::read(&model, root, &json).expect("a valid sample reads back");
        // By value: 0 reads as 0.0 where a choice offers both kinds of numbers.
        prop_assert!(same(&json_of(&read), &json), "{} and {}", json_of(&read), json);
    }

    #[test]
    fn what_is_stored_is_restored_as_it_was(plan in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::robust());
        let mut gene = Gene::sample(&model, root, &mut rng, &config);
        let check = |gene: &Gene| {
            // Through a text, as in a file.
            let text = gene.store().to_string();
            let json: Json = serde_json::from_str(&text).expect("what was printed");
            let restored = Gene::restore(&model, root, &json);
            prop_assert_eq!(restored.as_ref(), Some(gene), "{}", text);
            Ok(())
        };
        check(&gene)?;
        for violation in gene.violations() {
            if let Some(broken) = gene.violate(&violation, &mut rng, &config) {
                check(&broken)?;
            }
        }
        let mut pointers = Vec::new();
        gene.walk(|place| pointers.push(place.pointer.to_owned()));
        let at = rng.usize(..pointers.len());
        let reference = Reference { source: 7, place: "body/id".into() };
        gene.bind(&pointers[at], reference);
        check(&gene)?;
        gene.set_json(&pointers[at], &json!({"taken": [1.5, "as it is"]}));
        check(&gene)?;
    }

    #[test]
    fn what_was_stored_for_another_model_is_refused_or_fits(plan in plan(), other in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let gene = Gene::sample(&model, root, &mut Rng::with_seed(seed), &GeneConfig::default());
        let (model, root) = model_of(&other);
        if let Some(mut restored) = Gene::restore(&model, root, &gene.store()) {
            let _ = restored.to_json(&Unresolved);
            restored.mutate(&mut Rng::with_seed(seed), &GeneConfig::default());
            let _ = restored.violations();
        }
    }

    #[test]
    fn plain_text_of_a_leaf_reads_back(plan in leaf(), seed: u64) {
        let (model, root) = model_of(&plan);
        let gene = Gene::sample(&model, root, &mut Rng::with_seed(seed), &GeneConfig::default());
        let json = json_of(&gene);
        let read = Gene::read_text(&model, root, &plain(&json)).expect("its own text");
        prop_assert!(same(&json_of(&read), &json));
    }

    #[test]
    fn a_breach_breaks_one_rule_and_says_which(plan in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let gene = Gene::sample(&model, root, &mut rng, &config);
        for violation in gene.violations() {
            let Some(broken) = gene.violate(&violation, &mut rng, &config) else { continue };
            let misfit = broken.check().expect_err("a breach does not fit");
            // Inside a choice the reader only knows that no alternative fits.
            if misfit.rule != isobath_genes::Rule::Choice {
                prop_assert_eq!(&misfit.pointer, &violation.pointer, "{:?} made {}", violation, json_of(&broken));
                prop_assert_eq!(misfit.rule, violation.rule, "{:?} made {}", violation, json_of(&broken));
            }
        }
    }

    #[test]
    fn the_seed_decides_everything(plan in plan(), seed: u64) {
        let run = || {
            let (model, root) = model_of(&plan);
            let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::robust());
            let mut gene = Gene::sample(&model, root, &mut rng, &config);
            for _ in 0..5 {
                gene.mutate(&mut rng, &config);
            }
            json_of(&gene)
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn a_mutation_leaves_clones_alone(plan in plan(), seed: u64) {
        let (model, root) = model_of(&plan);
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
        let mut gene = Gene::sample(&model, root, &mut rng, &config);
        let (copy, before) = (gene.clone(), json_of(&gene));
        for _ in 0..5 {
            gene.mutate(&mut rng, &config);
        }
        prop_assert_eq!(json_of(&copy), before);
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error(text in ".{0,24}", seed: u64) {
        if let Ok(pattern) = Pattern::new(&text)
            && let Ok(domain) = PatternDomain::new(Arc::new(pattern), 0, Some(64))
        {
            let mut builder = ModelBuilder::new();
            let root = builder.add(Node::new(Domain::Pattern(domain)));
            let model = Arc::new(builder.finish());
            let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::default());
            let mut gene = Gene::sample(&model, root, &mut rng, &config);
            prop_assert_eq!(gene.check(), Ok(()));
            gene.mutate(&mut rng, &config);
            prop_assert_eq!(gene.check(), Ok(()));
        }
    }

    #[test]
    fn examples_that_do_not_fit_are_known(n in -20i64..20) {
        let mut builder = ModelBuilder::new();
        let domain = IntegerDomain::new(Some(0), Some(9)).expect("ten numbers");
        let mut node = Node::new(Domain::Integer(domain));
        node.examples.push(Example::new(None, json!(n)));
        let id = builder.add(node);
        let model = builder.finish();
        prop_assert_eq!(model.node(id).examples[0].fits, (0..10).contains(&n));
    }
}
