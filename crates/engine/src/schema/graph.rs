//! The subschemas of a schema and how one leads to another, to know beforehand what it costs.
//!
//! A subschema applies others to the value at hand (`allOf`, `$ref` …, *in place*) or to the members
//! and elements of that value. In place, work multiplies: 40 levels of `allOf: [next, next]` are 2^40
//! evaluations of one number. Such schemas are refused before they are compiled.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::pattern;

/// The largest schema.
const MAX_BYTES: usize = 1 << 20;
const MAX_SUBSCHEMAS: usize = 20_000;
/// Evaluations that one value may take, members and elements aside.
const MAX_WEIGHT: u64 = 2_000;
/// Subschemas that lead to one another in place. Validation recurses into each.
const MAX_CHAIN: usize = 32;
/// References, each inside the target of the one before. Compilation recurses into each.
const MAX_REFERENCES: usize = 2_000;
/// What all patterns together may weigh.
const MAX_PATTERN_WEIGHT: u64 = 200_000;

type Id = usize;

#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// What one value costs at the root.
    pub weight: u64,
}

#[derive(Debug, Default)]
struct Node {
    /// What its own rules cost.
    own: u64,
    in_place: Vec<Id>,
    properties: HashMap<String, Id>,
    /// Applied to members of any name.
    members: Vec<Id>,
    elements: Vec<Id>,
    /// Whether it chooses among others, for which the validator keeps what is wrong with each.
    chooses: bool,
    /// Whether it has to evaluate what is in place a second time.
    twice: bool,
}

impl Graph {
    /// Reads a schema; says why if it is too complex.
    pub fn of(document: &Value) -> Result<Graph, String> {
        let mut reader = Reader::new(document)?;
        reader.node(document)?;
        while let Some(schema) = reader.pending.pop() {
            reader.read(schema)?;
        }
        let mut graph = Graph {
            nodes: reader.nodes,
            weight: 0,
        };
        let mut weights = vec![Weight::Unknown; graph.nodes.len()];
        for id in 0..graph.nodes.len() {
            let (weight, _) = graph.weigh(id, &mut weights, 0)?;
            if weight > MAX_WEIGHT {
                return Err(format!(
                    "one value would be evaluated more than {MAX_WEIGHT} times: allOf, anyOf, oneOf and $ref multiply where they lead to one another"
                ));
            }
            graph.weight = graph.weight.max(weight);
        }
        Ok(graph)
    }

    /// What a value costs at a subschema, and how many lead to one another there.
    fn weigh(&self, id: Id, known: &mut [Weight], depth: usize) -> Result<(u64, usize), String> {
        match known[id] {
            Weight::Known(weight, chain) => return Ok((weight, chain)),
            Weight::UnderWay => {
                return Err("a $ref leads back to itself without a member or an element between: it means nothing".to_owned());
            }
            Weight::Unknown => {}
        }
        let too_deep =
            || format!("more than {MAX_CHAIN} subschemas lead to one another for one value");
        if depth > MAX_CHAIN {
            return Err(too_deep());
        }
        known[id] = Weight::UnderWay;
        let node = &self.nodes[id];
        let (mut inside, mut chain) = (0u64, 0);
        for next in &node.in_place {
            let (weight, below) = self.weigh(*next, known, depth + 1)?;
            inside = inside.saturating_add(weight);
            chain = chain.max(below + 1);
        }
        if chain > MAX_CHAIN {
            return Err(too_deep());
        }
        let inside = inside.saturating_mul(if node.twice { 2 } else { 1 });
        let weight = node.own.saturating_add(inside);
        known[id] = Weight::Known(weight, chain);
        Ok((weight, chain))
    }

    /// Whether collecting everything that is wrong with a value takes more than so many steps. Counts
    /// what could be wrong, so it may say yes for a value with little wrong.
    pub fn is_beyond(&self, value: &Value, mut budget: usize) -> bool {
        !self.spend(0, value, &mut budget)
    }

    fn spend(&self, id: Id, value: &Value, budget: &mut usize) -> bool {
        let node = &self.nodes[id];
        let own = usize::try_from(node.own).unwrap_or(usize::MAX);
        match budget.checked_sub(own) {
            Some(left) => *budget = left,
            None => return false,
        }
        let mut all = node.in_place.iter();
        all.all(|next| self.spend(*next, value, budget))
            && each_child(node, value, &mut |next, child| {
                self.spend(next, child, budget)
            })
    }

    /// Whether a choice (`anyOf`, `oneOf`) is made about a value for which [`Graph::is_beyond`] holds.
    /// The validator would keep everything that is wrong with it in every branch.
    pub fn has_large_choice(&self, value: &Value, budget: usize) -> bool {
        self.is_large_choice(0, value, budget, &mut budget.saturating_mul(3_000))
    }

    fn is_large_choice(&self, id: Id, value: &Value, budget: usize, steps: &mut usize) -> bool {
        let node = &self.nodes[id];
        // Spent in vain: take the careful way.
        if *steps == 0 {
            return true;
        }
        *steps -= 1;
        let mut left = budget;
        if self.spend(id, value, &mut left) {
            *steps = steps.saturating_sub(budget - left);
            return false;
        }
        *steps = steps.saturating_sub(budget);
        node.chooses
            || node
                .in_place
                .iter()
                .any(|next| self.is_large_choice(*next, value, budget, steps))
            || !each_child(node, value, &mut |next, child| {
                !self.is_large_choice(next, child, budget, steps)
            })
    }
}

#[derive(Clone, Copy)]
enum Weight {
    Unknown,
    UnderWay,
    Known(u64, usize),
}

/// Calls `on` with every subschema of a member or an element, until it says no.
fn each_child(node: &Node, value: &Value, on: &mut dyn FnMut(Id, &Value) -> bool) -> bool {
    match value {
        Value::Array(items) => {
            node.elements.is_empty()
                || items
                    .iter()
                    .all(|item| node.elements.iter().all(|next| on(*next, item)))
        }
        Value::Object(members) => {
            (node.members.is_empty() && node.properties.is_empty())
                || members.iter().all(|(name, member)| {
                    node.properties
                        .get(name)
                        .is_none_or(|next| on(*next, member))
                        && node.members.iter().all(|next| on(*next, member))
                })
        }
        _ => true,
    }
}

struct Reader<'a> {
    document: &'a Value,
    ids: HashMap<*const Value, Id>,
    nodes: Vec<Node>,
    pending: Vec<&'a Value>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    /// Subschemas with an id, and that.
    ids_of: Vec<(&'a str, &'a Value)>,
    references: usize,
    pattern_weight: u64,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Value) -> Result<Reader<'a>, String> {
        let mut names = Names::default();
        names.read(document);
        if names.bytes > MAX_BYTES {
            return Err(format!("the schema has more than {MAX_BYTES} bytes"));
        }
        Ok(Reader {
            document,
            anchors: names.anchors,
            ids_of: names.ids,
            ids: HashMap::new(),
            nodes: Vec::new(),
            pending: Vec::new(),
            references: 0,
            pattern_weight: 0,
        })
    }

    /// The node of a subschema, which is read later.
    fn node(&mut self, schema: &'a Value) -> Result<Id, String> {
        if let Some(id) = self.ids.get(&std::ptr::from_ref(schema)) {
            return Ok(*id);
        }
        let id = self.nodes.len();
        if id >= MAX_SUBSCHEMAS {
            return Err(format!(
                "the schema has more than {MAX_SUBSCHEMAS} subschemas"
            ));
        }
        self.ids.insert(schema, id);
        self.nodes.push(Node::default());
        self.pending.push(schema);
        Ok(id)
    }

    fn read(&mut self, schema: &'a Value) -> Result<(), String> {
        let mut node = Node {
            own: 1,
            ..Node::default()
        };
        if let Value::Object(rules) = schema {
            for (rule, value) in rules {
                self.rule(&mut node, rule, value)?;
            }
        }
        let id = self.ids[&std::ptr::from_ref(schema)];
        self.nodes[id] = node;
        Ok(())
    }

    fn rule(&mut self, node: &mut Node, rule: &str, value: &'a Value) -> Result<(), String> {
        match rule {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                self.references += 1;
                if self.references > MAX_REFERENCES {
                    return Err(format!(
                        "the schema has more than {MAX_REFERENCES} references"
                    ));
                }
                for target in self.targets(value.as_str().unwrap_or("#")) {
                    let target = self.node(target)?;
                    node.in_place.push(target);
                }
            }
            "allOf" | "anyOf" | "oneOf" => {
                node.chooses |= rule != "allOf";
                self.each(value, &mut node.in_place)?;
            }
            "not" | "if" | "then" | "else" => node.in_place.push(self.node(value)?),
            "dependentSchemas" | "dependencies" => self.values(value, &mut node.in_place)?,
            "properties" => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    let id = self.node(schema)?;
                    node.properties.insert(name.clone(), id);
                }
            }
            "patternProperties" => {
                for (pattern, schema) in value.as_object().into_iter().flatten() {
                    self.pattern(pattern)?;
                    node.own += 4;
                    node.members.push(self.node(schema)?);
                }
            }
            "additionalProperties" | "propertyNames" => node.members.push(self.node(value)?),
            "unevaluatedProperties" => {
                node.twice = true;
                node.members.push(self.node(value)?);
            }
            "unevaluatedItems" => {
                node.twice = true;
                node.elements.push(self.node(value)?);
            }
            "items" | "prefixItems" | "additionalItems" | "contains" => {
                self.each(value, &mut node.elements)?;
            }
            "pattern" => self.pattern(value.as_str().unwrap_or_default())?,
            "enum" | "required" => {
                node.own += value.as_array().map_or(0, |values| values.len() as u64 / 8);
            }
            "dependentRequired" => {
                node.own += value.as_object().map_or(0, |names| names.len() as u64 / 8);
            }
            _ => {}
        }
        Ok(())
    }

    /// A schema, or each of several.
    fn each(&mut self, value: &'a Value, to: &mut Vec<Id>) -> Result<(), String> {
        match value {
            Value::Array(schemas) => {
                for schema in schemas {
                    to.push(self.node(schema)?);
                }
            }
            schema => to.push(self.node(schema)?),
        }
        Ok(())
    }

    fn values(&mut self, value: &'a Value, to: &mut Vec<Id>) -> Result<(), String> {
        let schemas = value.as_object().into_iter().flat_map(Map::values);
        // An array there names members and is no schema.
        for schema in schemas.filter(|schema| !schema.is_array()) {
            to.push(self.node(schema)?);
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        let weight = pattern::weight(pattern);
        self.pattern_weight = self.pattern_weight.saturating_add(weight);
        match self.pattern_weight > MAX_PATTERN_WEIGHT {
            true => Err(format!(
                "the pattern {} repeats too much",
                super::shorten(pattern)
            )),
            false => Ok(()),
        }
    }

    /// Where a reference may lead: perhaps more than one place, where ids are alike. The validator
    /// refuses those that lead nowhere.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (place, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let documents = match place {
            "" => vec![self.document],
            place => self.documents(place),
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            let targets = documents.iter().map(|document| document.pointer(&fragment));
            return targets.flatten().collect();
        }
        let anchors = self.anchors.get(&*fragment);
        anchors.map(|found| found.to_vec()).unwrap_or_default()
    }

    /// The subschemas whose id a reference may mean. Ids are relative to one another, so their last
    /// parts are compared.
    fn documents(&self, place: &str) -> Vec<&'a Value> {
        let last = |id: &str| {
            let last = id.rsplit('/').next().unwrap_or_default();
            percent_decode_str(last).decode_utf8_lossy().into_owned()
        };
        let wanted = last(place);
        let is_meant = |id: &str| matches!(&*wanted, "" | "." | "..") || last(id) == wanted;
        let found = self.ids_of.iter().filter(|(id, _)| is_meant(id));
        found.map(|(_, schema)| *schema).collect()
    }
}

/// The subschemas that have names, and the document's bytes about as it was written.
#[derive(Default)]
struct Names<'a> {
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    ids: Vec<(&'a str, &'a Value)>,
    bytes: usize,
}

impl<'a> Names<'a> {
    fn read(&mut self, value: &'a Value) {
        self.bytes += 2;
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    self.bytes += key.len() + 3;
                    if let Value::String(text) = member {
                        self.name(key, text, value);
                    }
                    self.read(member);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::String(text) => self.bytes += text.len(),
            _ => self.bytes += 4,
        }
    }

    fn name(&mut self, key: &str, text: &'a str, schema: &'a Value) {
        match key {
            "$anchor" | "$dynamicAnchor" => self.anchors.entry(text).or_default().push(schema),
            // In older drafts an id that is a fragment is an anchor.
            "$id" | "id" => match text.strip_prefix('#') {
                Some(anchor) => self.anchors.entry(anchor).or_default().push(schema),
                None => self.ids.push((text.trim_end_matches('#'), schema)),
            },
            _ => {}
        }
    }
}
