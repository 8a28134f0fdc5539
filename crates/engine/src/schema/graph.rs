//! The subschemas of a schema and how one leads to another, to know beforehand what it costs.
//!
//! A subschema applies others to the same value (`allOf`, `$ref` …, *in place*) or to the members
//! and elements of that value. In place, work multiplies: 40 levels of `allOf: [next, next]` are
//! 2^40 evaluations of one number. Such schemas are rejected before they are compiled.
//!
//! Below members and elements work multiplies with the depth of the value: a list whose schema has
//! two branches for its `next` may be evaluated 2^n times at its n-th element. That depends on the
//! value, so it is counted before the value is evaluated. The count goes as the validator does: cheap
//! rules first (`type`, `const`, `required`), and after one that is broken nothing more of its
//! subschema; of a choice that a member of the value makes, only what that leads to.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use riverrun_types::Json;
use serde_json::{Map, Value};

use super::{choice::Choice, pattern};

/// The largest schema.
const MAX_BYTES: usize = 1 << 20;
const MAX_SUBSCHEMAS: usize = 20_000;
/// Evaluations that one value may take, members and elements aside.
const MAX_WEIGHT: u64 = 2_000;
/// Subschemas that lead to one another in place. Validation recurses into each.
const MAX_CHAIN: usize = 32;
/// References, each inside the target of the one before. Compilation recurses into each.
const MAX_REFERENCES: usize = 2_000;
/// The limit of all patterns together.
const MAX_PATTERN_WEIGHT: u64 = 200_000;

/// The types that a value may have.
const KINDS: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

pub(super) type Id = usize;

#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The most that one byte of a value costs, wherever it is in the value. `u64::MAX` if that
    /// depends on the value.
    per_byte: u64,
}

/// The counted quantities.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steps {
    /// Rules that could be broken: collecting what is wrong keeps something for each.
    Issues,
    /// What evaluation takes, also for one rule: the bytes that a pattern is held against, values
    /// that are compared.
    Evaluation,
}

#[derive(Debug, Default)]
struct Node {
    /// The cost of its own rules.
    own: u64,
    /// The cost of its patterns for each byte of a text.
    pattern: u64,
    /// The cost of its patterns for each text, however short.
    steps_back: u64,
    /// The cost of the patterns of `patternProperties` for each byte of a member's name.
    name_pattern: u64,
    /// Values that a value is compared with.
    compared: u64,
    /// Whether the elements are compared with one another.
    is_set: bool,
    in_place: Vec<Id>,
    /// Of these, the ones that are applied whatever the value is.
    always: Vec<Id>,
    /// The others.
    choices: Vec<Choice>,
    /// The type of a value that breaks no rule, and members that it must have.
    kinds: Option<Vec<String>>,
    required: Vec<String>,
    properties: HashMap<String, Id>,
    /// Applied to members of any name.
    members: Vec<Id>,
    /// Applied to members that `properties` does not name.
    additional: Vec<Id>,
    /// Applied to the names of members.
    names: Vec<Id>,
    elements: Vec<Id>,
    /// Whether it chooses among others, for which the validator keeps what is wrong with each.
    chooses: bool,
    /// Whether it has to evaluate what is in place a second time.
    twice: bool,
}

impl Graph {
    /// Reads a schema; says why if it is too complex.
    pub fn of(document: &Value) -> Result<Graph, String> {
        let reader = Reader::whole(document)?;
        let mut graph = Graph {
            nodes: reader.nodes,
            per_byte: 0,
        };
        let mut weights = vec![Weight::Unknown; graph.nodes.len()];
        let mut order = Vec::with_capacity(graph.nodes.len());
        for id in 0..graph.nodes.len() {
            let (weight, _) = graph.weigh(id, &mut weights, &mut order, 0)?;
            if weight > MAX_WEIGHT {
                return Err(format!(
                    "one value would be evaluated more than {MAX_WEIGHT} times: allOf, anyOf, oneOf and $ref multiply where they lead to one another"
                ));
            }
        }
        graph.per_byte = graph.most_per_byte(&order);
        Ok(graph)
    }

    /// Whether every value of so many bytes costs at most so much.
    pub fn is_within(&self, bytes: usize, budget: u64) -> bool {
        self.per_byte.saturating_mul(bytes as u64 + 1) <= budget
    }

    /// The most that one byte costs. `order`: every subschema after those that it applies in place.
    fn most_per_byte(&self, order: &[Id]) -> u64 {
        // Evaluations of one value at a subschema; those of one value below it; those of a member or
        // an element of its value.
        let mut here = vec![0u64; self.nodes.len()];
        for id in order {
            let node = &self.nodes[*id];
            // Whatever is below a value is compared with it, at every level again.
            let compared = node.compared.saturating_add(u64::from(node.is_set) * 16);
            let compared = compared.saturating_mul(Json::MAX_DEPTH as u64);
            let own = [
                node.pattern,
                node.steps_back,
                node.name_pattern,
                compared,
                1,
            ];
            let own = own
                .iter()
                .fold(node.own, |sum, more| sum.saturating_add(*more));
            let inside = node.in_place.iter().map(|next| here[*next]);
            let inside = inside.fold(0, u64::saturating_add);
            here[*id] = own.saturating_add(node.doubled(inside));
        }
        let mut most = here.clone();
        let mut below = vec![0u64; self.nodes.len()];
        for _ in 0..=Json::MAX_DEPTH {
            let mut is_settled = true;
            for id in order {
                let node = &self.nodes[*id];
                let sum = |ids: &[Id]| {
                    let all = ids.iter().map(|id| most[*id]);
                    all.fold(0, u64::saturating_add)
                };
                let named = node.properties.values().map(|id| most[*id]).max();
                let member = named.unwrap_or_default().max(sum(&node.additional));
                let member = member.saturating_add(sum(&node.members));
                let member = member.saturating_add(sum(&node.names));
                let own = member.max(sum(&node.elements));
                let inside = node.in_place.iter().map(|next| below[*next]);
                let inside = inside.fold(0, u64::saturating_add);
                below[*id] = own.saturating_add(node.doubled(inside));
                let more = here[*id].max(below[*id]);
                is_settled &= more == most[*id];
                most[*id] = more;
            }
            if is_settled {
                return most.first().copied().unwrap_or_default();
            }
        }
        u64::MAX
    }

    /// The cost of a value at a subschema, and how many lead to one another there.
    fn weigh(
        &self,
        id: Id,
        known: &mut [Weight],
        order: &mut Vec<Id>,
        depth: usize,
    ) -> Result<(u64, usize), String> {
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
            let (weight, below) = self.weigh(*next, known, order, depth + 1)?;
            inside = inside.saturating_add(weight);
            chain = chain.max(below + 1);
        }
        if chain > MAX_CHAIN {
            return Err(too_deep());
        }
        let weight = node.own.saturating_add(node.doubled(inside));
        known[id] = Weight::Known(weight, chain);
        order.push(id);
        Ok((weight, chain))
    }

    /// Whether something takes more than so many steps. Counts what could be evaluated or wrong, so it
    /// may say yes for a value that needs less.
    pub fn is_beyond(&self, value: &Value, steps: Steps, mut budget: usize) -> bool {
        !self.spend(0, value, steps, &mut budget)
    }

    /// Takes what a value costs at a subschema from a budget. Without recursion: a value may nest a
    /// hundred levels deep, and each level lead through a chain of subschemas.
    fn spend(&self, id: Id, value: &Value, steps: Steps, budget: &mut usize) -> bool {
        let mut open = vec![(id, value, 1u64)];
        while let Some((id, value, times)) = open.pop() {
            let node = &self.nodes[id];
            let cost = match steps {
                Steps::Issues => node.own,
                Steps::Evaluation => node.cost(value, *budget),
            };
            if !take(budget, cost.saturating_mul(times)) {
                return false;
            }
            if matches!(steps, Steps::Evaluation) && node.is_refused_at_once(value) {
                continue;
            }
            let inside = node.doubled(times);
            open.extend(node.always.iter().map(|next| (*next, value, inside)));
            for choice in &node.choices {
                let candidates = choice.candidates(value).iter();
                open.extend(candidates.map(|next| (*next, value, inside)));
            }
            if !self.spend_names(node, value, times, steps, budget) {
                return false;
            }
            // Each of them takes a step or more: those for which there is no budget are not kept.
            let most = open.len().saturating_add(*budget);
            let is_kept = each_child(node, value, &mut |next, child| {
                open.push((next, child, times));
                open.len() <= most
            });
            if !is_kept {
                return false;
            }
        }
        true
    }

    /// The same for the names of members. They are texts, so nothing is below them.
    fn spend_names(
        &self,
        node: &Node,
        value: &Value,
        times: u64,
        steps: Steps,
        budget: &mut usize,
    ) -> bool {
        let Value::Object(members) = value else {
            return true;
        };
        node.names.is_empty()
            || members.keys().all(|name| {
                let (name, before) = (Value::String(name.clone()), *budget);
                let mut all = node.names.iter();
                all.all(|next| self.spend(*next, &name, steps, budget)) && {
                    let spent = (before - *budget) as u64;
                    take(budget, spent.saturating_mul(times - 1))
                }
            })
    }

    /// Whether a choice (`anyOf`, `oneOf`) is made about a value whose issues are too many steps.
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
        if self.spend(id, value, Steps::Issues, &mut left) {
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

impl Node {
    /// Whether a value breaks a rule that the validator looks at before it applies other subschemas.
    fn is_refused_at_once(&self, value: &Value) -> bool {
        let is_kind = |kind: &String| match (kind.as_str(), value) {
            ("object", Value::Object(_))
            | ("array", Value::Array(_))
            | ("string", Value::String(_))
            | ("number" | "integer", Value::Number(_))
            | ("boolean", Value::Bool(_))
            | ("null", Value::Null) => true,
            (kind, _) => !KINDS.contains(&kind),
        };
        let lacks = |members: &Map<String, Value>| {
            let mut required = self.required.iter();
            required.any(|name| !members.contains_key(name))
        };
        self.kinds
            .as_ref()
            .is_some_and(|kinds| !kinds.iter().any(is_kind))
            || value.as_object().is_some_and(lacks)
    }

    fn doubled(&self, inside: u64) -> u64 {
        inside.saturating_mul(if self.twice { 2 } else { 1 })
    }

    /// What its own rules cost for a value, those of members and elements aside. Values are counted
    /// up to `most`.
    fn cost(&self, value: &Value, most: usize) -> u64 {
        let size = || super::count(value, most as u64);
        let more = match value {
            Value::String(text) => {
                let bytes = text.len() as u64;
                let by_pattern = self.pattern.saturating_mul(bytes);
                by_pattern.saturating_add(bytes / 256 + self.steps_back)
            }
            Value::Array(items) => {
                let set = match (self.is_set, items.len()) {
                    (false, _) => 0,
                    // Few are compared in pairs, many by their hashes.
                    (true, few @ ..=15) => size().saturating_mul(few as u64),
                    (true, _) => size().saturating_mul(2),
                };
                let compared = match self.compared {
                    0 => 0,
                    values => size().saturating_mul(values),
                };
                (items.len() as u64).saturating_add(set.saturating_add(compared))
            }
            Value::Object(members) => {
                let names = match self.name_pattern {
                    0 => 0,
                    pattern => {
                        let bytes: usize = members.keys().map(|name| name.len() + 1).sum();
                        pattern.saturating_mul(bytes as u64)
                    }
                };
                let compared = match self.compared {
                    0 => 0,
                    values => size().saturating_mul(values),
                };
                (members.len() as u64).saturating_add(names.saturating_add(compared))
            }
            _ => 0,
        };
        self.own.saturating_add(more)
    }
}

/// Takes something from a budget; says no where that is not left.
fn take(budget: &mut usize, cost: u64) -> bool {
    let left = usize::try_from(cost)
        .ok()
        .and_then(|cost| budget.checked_sub(cost));
    *budget = left.unwrap_or_default();
    left.is_some()
}

#[derive(Clone, Copy)]
enum Weight {
    Unknown,
    UnderWay,
    Known(u64, usize),
}

/// Calls `on` with every subschema of a member or an element, until it says no.
fn each_child<'v>(
    node: &Node,
    value: &'v Value,
    on: &mut dyn FnMut(Id, &'v Value) -> bool,
) -> bool {
    match value {
        Value::Array(items) => {
            node.elements.is_empty()
                || items
                    .iter()
                    .all(|item| node.elements.iter().all(|next| on(*next, item)))
        }
        Value::Object(members) => {
            (node.members.is_empty() && node.properties.is_empty() && node.additional.is_empty())
                || members.iter().all(|(name, member)| {
                    let named = match node.properties.get(name) {
                        Some(next) => on(*next, member),
                        None => node.additional.iter().all(|next| on(*next, member)),
                    };
                    named && node.members.iter().all(|next| on(*next, member))
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
    /// Reads all subschemas.
    fn whole(document: &'a Value) -> Result<Reader<'a>, String> {
        let mut reader = Reader::new(document)?;
        reader.node(document)?;
        while let Some(schema) = reader.pending.pop() {
            reader.read(schema)?;
        }
        Ok(reader)
    }

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
            // `true` and `false` cost nothing beside the way to them.
            own: u64::from(!schema.is_boolean()),
            ..Node::default()
        };
        if let Value::Object(rules) = schema {
            for (rule, value) in rules {
                self.rule(&mut node, rule, value)?;
            }
            // By older drafts nothing beside a reference has a meaning.
            if rules.contains_key("$ref") {
                node.kinds = None;
                node.required.clear();
            }
        }
        let chosen = |id: &Id| node.choices.iter().any(|choice| choice.has(*id));
        node.always = node
            .in_place
            .iter()
            .copied()
            .filter(|id| !chosen(id))
            .collect();
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
                self.each(value, &mut node.in_place)?;
                if rule != "allOf" {
                    node.chooses = true;
                    let choice = Choice::of(self.document, value, &self.ids);
                    node.choices.extend(choice);
                }
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
                    let (per_byte, _) = self.pattern(pattern)?;
                    node.name_pattern = node.name_pattern.saturating_add(per_byte);
                    node.own += 4;
                    node.members.push(self.node(schema)?);
                }
            }
            "additionalProperties" => node.additional.push(self.node(value)?),
            "propertyNames" => node.names.push(self.node(value)?),
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
            "pattern" => {
                let (per_byte, steps_back) = self.pattern(value.as_str().unwrap_or_default())?;
                node.pattern = node.pattern.saturating_add(per_byte);
                node.steps_back = node.steps_back.saturating_add(steps_back);
            }
            "uniqueItems" => node.is_set = *value == Value::Bool(true),
            "const" => node.compared += u64::from(value.is_array() || value.is_object()),
            "enum" => {
                let values = value.as_array().map_or(&[][..], Vec::as_slice);
                node.own += values.len() as u64 / 8;
                let compound = |value: &&Value| value.is_array() || value.is_object();
                node.compared += values.iter().filter(compound).count() as u64;
            }
            "type" => {
                let kinds = match value {
                    Value::Array(kinds) => kinds.as_slice(),
                    kind => std::slice::from_ref(kind),
                };
                let kinds = kinds.iter().filter_map(Value::as_str);
                node.kinds = Some(kinds.map(str::to_owned).collect());
            }
            "required" => {
                let names = value.as_array().into_iter().flatten();
                let names = names.filter_map(Value::as_str).map(str::to_owned);
                node.required = names.collect();
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

    /// The cost of a pattern for each byte of a text, and for each text.
    fn pattern(&mut self, pattern: &str) -> Result<(u64, u64), String> {
        let weight = pattern::weight(pattern);
        self.pattern_weight = self.pattern_weight.saturating_add(weight);
        match self.pattern_weight > MAX_PATTERN_WEIGHT {
            true => Err(format!(
                "the pattern {} repeats too much",
                super::shorten(pattern)
            )),
            false => Ok((1 + weight / 32, pattern::steps_back(pattern))),
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
