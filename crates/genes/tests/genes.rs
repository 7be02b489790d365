//! Facts about genes that are easier to read one by one.

use std::sync::Arc;

use fastrand::Rng;
use isobath_genes::{
    AdditionalProperties, BinaryDomain, DateTimeKind, Domain, Example, Field, Gene, GeneConfig,
    IntegerDomain, Model, ModelBuilder, Node, NodeId, ObjectDomain, Reference, Resolver, Rule,
    Specialization, TextDomain, Unresolved, Value, ValueClass, taint_marker, taint_marker_number,
};
use serde_json::{Value as Json, json};

fn object(builder: &mut ModelBuilder, fields: &[(&str, NodeId, bool)]) -> NodeId {
    builder.add(Domain::Object(ObjectDomain {
        fields: fields
            .iter()
            .map(|&(name, node, required)| Field {
                name: name.into(),
                node,
                required,
            })
            .collect(),
        extra: None,
        closed: false,
        min: 0,
        max: None,
    }))
}

/// `{id: 1..=100, name: text?}`
fn person() -> (Arc<Model>, NodeId) {
    let mut builder = ModelBuilder::new();
    let domain = IntegerDomain::new(Some(1), Some(100)).expect("a hundred numbers");
    let id = builder.add(Domain::Integer(domain));
    let name = builder.add(Domain::Text(TextDomain::any()));
    let root = object(&mut builder, &[("id", id, true), ("name", name, false)]);
    (Arc::new(builder.finish()), root)
}

fn read(json: Json) -> Gene {
    let (model, root) = person();
    Gene::read(&model, root, &json).expect("a person")
}

struct Answers(Json);

impl Resolver for Answers {
    fn resolve(&self, reference: &Reference) -> Option<Json> {
        self.0.pointer(&reference.place).cloned()
    }
}

#[test]
fn a_bound_value_is_taken_from_the_answer_and_else_from_itself() {
    let mut gene = read(json!({"id": 5, "name": "x"}));
    let reference = Reference {
        source: 0,
        place: "/key".into(),
    };
    assert!(gene.bind("/id", reference.clone()));
    assert!(gene.bind("/name", reference.clone()));
    assert!(!gene.bind("/nothing", reference.clone()));
    let answers = Answers(json!({"key": 77}));
    assert_eq!(
        gene.to_json(&answers),
        Some(json!({"id": 77, "name": "77"})),
        "a number becomes text where text is due"
    );
    assert_eq!(
        gene.to_json(&Unresolved),
        Some(json!({"id": 5, "name": "x"}))
    );
    assert_eq!(gene.references().len(), 2);
    gene.rebind(|reference| {
        Some(Reference {
            source: reference.source + 1,
            place: reference.place.clone(),
        })
    });
    assert!(gene.references().iter().all(|(_, r)| r.source == 1));
    gene.unbind(|_| false);
    assert!(gene.references().is_empty());
    assert_eq!(gene.to_json(&answers), Some(json!({"id": 5, "name": "x"})));
}

#[test]
fn a_tainted_text_can_be_specialized_and_is_then_mutated_as_such() {
    let mut gene = read(json!({"id": 5, "name": "x"}));
    assert!(gene.set_taint_marker("/name", &taint_marker(7)));
    assert!(!gene.set_taint_marker("/id", &taint_marker(8)));
    let json = gene.to_json(&Unresolved).expect("present");
    assert_eq!(json["name"].as_str().and_then(taint_marker_number), Some(7));

    let (mut rng, config) = (Rng::with_seed(1), GeneConfig::default());
    let date = Specialization::DateTime(DateTimeKind::Date)
        .model()
        .expect("no pattern");
    assert!(gene.specialize("/name", &date, &mut rng, &config));
    assert!(
        !gene.specialize("/id", &date, &mut rng, &config),
        "only text is specialized"
    );
    for _ in 0..50 {
        gene.mutate(&mut rng, &config);
        let json = gene.to_json(&Unresolved).expect("present");
        if let Some(Value::Object(object)) = Some(gene.value())
            && matches!(object.fields[1], Value::Specialized(_))
        {
            let text = json["name"].as_str().expect("text");
            assert_eq!(text.len(), 10, "{text} is a date");
        }
    }

    let number = Specialization::Integer { min: 3, max: 3 }
        .model()
        .expect("no pattern");
    assert!(gene.resample("/name", &mut rng, &config));
    assert!(gene.specialize("/name", &number, &mut rng, &config));
    let json = gene.to_json(&Unresolved).expect("present");
    assert_eq!(
        json["name"], "3",
        "still text, because the schema says text"
    );
}

#[test]
fn mutation_goes_where_change_mattered() {
    let mut gene = read(json!({"id": 50, "name": "x"}));
    let (mut rng, config) = (Rng::with_seed(3), GeneConfig::default());
    // Find the site of the name by looking at what changes, and give it credit.
    for _ in 0..200 {
        let before = gene.to_json(&Unresolved).expect("present");
        let mut next = gene.clone();
        let change = next.mutate(&mut rng, &config).expect("a person can change");
        let after = next.to_json(&Unresolved).expect("present");
        gene.credit(
            change.site,
            before["name"] != after["name"] && after["name"].is_string(),
        );
    }
    let mut n_names = 0;
    for _ in 0..200 {
        let mut next = gene.clone();
        next.mutate(&mut rng, &config);
        n_names += usize::from(next.to_json(&Unresolved).expect("present")["name"] != "x");
    }
    assert!(n_names > 150, "the name changed {n_names} of 200 times");
}

#[test]
fn named_examples_are_used_together() {
    let mut builder = ModelBuilder::new();
    let mut text = |value: &str| {
        let mut node = Node::new(Domain::Text(TextDomain::any()));
        node.examples.push(Example::new(Some("other"), json!("no")));
        node.examples.push(Example::new(Some("ada"), json!(value)));
        builder.add(node)
    };
    let (first, last) = (text("Ada"), text("Lovelace"));
    let root = object(
        &mut builder,
        &[("first", first, true), ("last", last, true)],
    );
    let model = Arc::new(builder.finish());
    let config = GeneConfig {
        named_example: Some("ada".into()),
        ..GeneConfig::default()
    };
    let gene = Gene::sample(&model, root, &mut Rng::with_seed(1), &config);
    assert_eq!(
        gene.to_json(&Unresolved),
        Some(json!({"first": "Ada", "last": "Lovelace"}))
    );
}

#[test]
fn facets_tell_values_apart() {
    let gene = read(json!({"id": 100}));
    let mut seen = Vec::new();
    gene.walk(|place| {
        let pointer = place.pointer.to_owned();
        place.value_classes(|facet| seen.push((pointer.clone(), facet)));
    });
    let of = |pointer: &str, facet| (pointer.to_owned(), facet);
    assert_eq!(
        seen,
        [
            of("/id", ValueClass::Positive),
            of("/id", ValueClass::Maximum),
            of("/name", ValueClass::Absent)
        ]
    );
}

#[test]
fn impossible_dates_are_made_on_request_only() {
    let mut builder = ModelBuilder::new();
    let root = builder.add(Domain::DateTime(DateTimeKind::DateTime));
    let model = Arc::new(builder.finish());
    let invalid = |config: &GeneConfig| {
        let mut rng = Rng::with_seed(9);
        (0..200)
            .filter(|_| {
                Gene::sample(&model, root, &mut rng, config)
                    .check()
                    .is_err()
            })
            .count()
    };
    assert_eq!(invalid(&GeneConfig::default()), 0);
    let robust = GeneConfig {
        invalid_time: 0.5,
        ..GeneConfig::default()
    };
    assert!(invalid(&robust) > 50);
}

#[test]
fn a_schema_that_requires_itself_is_known_and_does_not_hang() {
    let mut builder = ModelBuilder::new();
    let id = builder.reserve();
    let fields = [Field {
        name: "next".into(),
        node: id,
        required: true,
    }];
    builder.define(
        id,
        Domain::Object(ObjectDomain {
            fields: fields.into(),
            extra: None,
            closed: false,
            min: 0,
            max: None,
        }),
    );
    let model = Arc::new(builder.finish());
    assert!(model.is_infinite(id));
    let gene = Gene::sample(&model, id, &mut Rng::with_seed(1), &GeneConfig::default());
    assert!(gene.to_json(&Unresolved).is_some());
}

#[test]
fn a_wide_recursive_schema_stays_small() {
    let mut builder = ModelBuilder::new();
    let id = builder.reserve();
    let fields = (0..30)
        .map(|i| Field {
            name: format!("child{i}").as_str().into(),
            node: id,
            required: false,
        })
        .collect();
    builder.define(
        id,
        Domain::Object(ObjectDomain {
            fields,
            extra: None,
            closed: false,
            min: 0,
            max: None,
        }),
    );
    let model = Arc::new(builder.finish());
    for seed in 0..20 {
        let gene = Gene::sample(
            &model,
            id,
            &mut Rng::with_seed(seed),
            &GeneConfig::default(),
        );
        let mut n = 0;
        gene.walk(|place| n += usize::from(*place.value != Value::Absent));
        assert!(n <= 300, "{n} values");
    }
}

#[test]
fn breaches_name_every_rule_of_a_schema() {
    let gene = read(json!({"id": 5, "name": "x"}));
    let rules: Vec<String> = gene
        .violations()
        .iter()
        .map(|violation| format!("{} {}", violation.pointer, violation.rule))
        .collect();
    insta::assert_snapshot!(rules.join("\n"), @r"
     type
     nullable
    /id required
    /id type
    /id nullable
    /id minimum
    /id maximum
    /name type
    /name nullable
    ");
    let violation = gene
        .violations()
        .into_iter()
        .find(|violation| violation.rule == Rule::Maximum)
        .expect("it has a maximum");
    let broken = gene.violate(&violation, &mut Rng::with_seed(1), &GeneConfig::default());
    let json = broken.expect("it can be broken").to_json(&Unresolved);
    assert_eq!(json, Some(json!({"id": 101, "name": "x"})));
}

#[test]
fn whole_numbers_reach_both_ends_of_their_types() {
    let mut builder = ModelBuilder::new();
    let unsigned = IntegerDomain::new(Some(0), Some(i128::from(u64::MAX))).expect("many");
    let root = builder.add(Domain::Integer(unsigned));
    let model = Arc::new(builder.finish());
    let greatest = Gene::read(&model, root, &json!(u64::MAX)).expect("the greatest");
    assert_eq!(greatest.to_json(&Unresolved), Some(json!(u64::MAX)));
    let misfit = Gene::read(&model, root, &json!(1e30)).expect_err("too large");
    assert_eq!(misfit.rule, Rule::Maximum);
    let misfit = Gene::read(&model, root, &json!(1.5)).expect_err("not whole");
    assert_eq!(misfit.rule, Rule::Type);
    assert!(
        Gene::read(&model, root, &json!(2.0)).is_ok(),
        "2.0 is a whole number in JSON"
    );
}

#[test]
fn examples_are_taken_as_they_were_meant() {
    let mut builder = ModelBuilder::new();
    let text = builder.add(Domain::Text(TextDomain::any()));
    let mut add = |domain: Domain, example: Json| {
        let mut node = Node::new(domain);
        node.examples.push(Example::new(None, example));
        builder.add(node)
    };
    let list = Domain::Array(isobath_genes::ArrayDomain {
        item: text,
        min: 0,
        max: None,
        unique: false,
    });
    let whole = Domain::Integer(IntegerDomain::new(None, None).expect("all numbers"));
    let ids = [
        add(Domain::Text(TextDomain::any()), json!(1)),
        add(list, json!("one")),
        add(whole.clone(), json!("12")),
        add(whole, json!("twelve")),
    ];
    let model = builder.finish();
    let seen = ids.map(|id| {
        let example = &model.node(id).examples[0];
        (Json::clone(&example.value), example.fits)
    });
    assert_eq!(
        seen,
        [
            (json!("1"), true),
            (json!(["one"]), true),
            (json!(12), true),
            (json!("twelve"), false)
        ]
    );
}

#[test]
fn a_learned_moment_or_base64_is_sent_as_it_was_written_and_can_change() {
    let cases = [
        (
            Domain::DateTime(DateTimeKind::DateTime),
            "2024-05-06T07:08:09.123456+00:00",
        ),
        (Domain::DateTime(DateTimeKind::Time), "07:08:09.5z"),
        (
            Domain::Binary(BinaryDomain::new(0, None).expect("any")),
            "aGk",
        ),
    ];
    let (mut rng, config) = (Rng::with_seed(1), GeneConfig::default());
    for (domain, text) in cases {
        let mut builder = ModelBuilder::new();
        let root = builder.add(domain);
        let model = Arc::new(builder.finish());
        let mut gene = Gene::sample(&model, root, &mut rng, &config);
        assert!(gene.set_json("", &json!(text)));
        assert_eq!(gene.to_json(&Unresolved), Some(json!(text)));
        assert_eq!(gene.check(), Ok(()));
        assert!(!gene.set_json("/inside", &json!(1)));
        assert!(gene.mutate(&mut rng, &config).is_some());
        assert_ne!(gene.to_json(&Unresolved), Some(json!(text)));
        assert_eq!(gene.check(), Ok(()));
    }
}

#[test]
fn small_steps_stay_near_and_large_steps_go_far() {
    let mut builder = ModelBuilder::new();
    let domain = IntegerDomain::new(Some(0), Some(1_000_000)).expect("many numbers");
    let root = builder.add(Domain::Integer(domain));
    let model = Arc::new(builder.finish());
    let farthest = |large_step: f64| {
        let config = GeneConfig {
            large_step,
            ..GeneConfig::default()
        };
        let mut rng = Rng::with_seed(2);
        let steps = (0..100).map(|_| {
            let mut gene = Gene::read(&model, root, &json!(500_000)).expect("in the middle");
            gene.mutate(&mut rng, &config);
            let json = gene.to_json(&Unresolved).expect("a number");
            json.as_i64().expect("whole").abs_diff(500_000)
        });
        steps.max()
    };
    assert!(farthest(0.0) <= Some(512));
    assert!(farthest(1.0) > Some(100_000));
}

#[test]
fn a_moment_moves_by_one_part_in_a_small_step() {
    let mut builder = ModelBuilder::new();
    let root = builder.add(Domain::DateTime(DateTimeKind::Date));
    let model = Arc::new(builder.finish());
    let config = GeneConfig {
        large_step: 0.0,
        ..GeneConfig::default()
    };
    let mut rng = Rng::with_seed(3);
    for _ in 0..50 {
        let mut gene = Gene::read(&model, root, &json!("2020-06-15")).expect("a date");
        gene.mutate(&mut rng, &config);
        let json = gene.to_json(&Unresolved).expect("a date");
        let near = [
            "2019-06-15",
            "2021-06-15",
            "2020-05-15",
            "2020-07-15",
            "2020-06-14",
            "2020-06-16",
        ];
        assert!(near.iter().any(|date| json == *date), "{json}");
    }
}

#[test]
fn maps_that_need_themselves_end() {
    // `{…: {map: itself}}` with at least one entry: no value fits, and drawing one must end nevertheless.
    let mut builder = ModelBuilder::new();
    let key = builder.add(Domain::Text(TextDomain::any()));
    let map = builder.reserve();
    let value = object(&mut builder, &[("map", map, true)]);
    let domain = ObjectDomain {
        fields: Box::default(),
        extra: Some(AdditionalProperties { key, value }),
        closed: false,
        min: 1,
        max: None,
    };
    builder.define(map, Domain::Object(domain));
    let model = Arc::new(builder.finish());
    assert!(model.is_infinite(map));
    for seed in 0..20 {
        let (mut rng, config) = (Rng::with_seed(seed), GeneConfig::robust());
        let mut gene = Gene::sample(&model, map, &mut rng, &config);
        gene.mutate(&mut rng, &config);
    }
}

#[test]
fn objects_with_enough_properties_need_not_contain_themselves() {
    // `{itself?, flag?}` with at least one property.
    let mut builder = ModelBuilder::new();
    let flag = builder.add(Domain::Boolean);
    let node = builder.reserve();
    let field = |name: &str, node| Field {
        name: name.into(),
        node,
        required: false,
    };
    let domain = ObjectDomain {
        fields: [field("itself", node), field("flag", flag)].into(),
        extra: None,
        closed: true,
        min: 1,
        max: None,
    };
    builder.define(node, Domain::Object(domain));
    let model = Arc::new(builder.finish());
    assert!(!model.is_infinite(node));
    for seed in 0..50 {
        let mut rng = Rng::with_seed(seed);
        let gene = Gene::sample(&model, node, &mut rng, &GeneConfig::robust());
        assert!(gene.check().is_ok(), "{:?}", gene.to_json(&Unresolved));
    }
}
