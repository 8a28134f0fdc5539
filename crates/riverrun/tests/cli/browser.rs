//! Pages that people are shown, in a real browser: it has rules of its own about what a page may
//! send where.

use std::{
    io::{BufRead, BufReader},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use crate::support::{PATIENCE, Project, until};

const ASKS: &str = "id: ask\nversion: 1.0.0\ninitialStepId: decide\nsteps:\n  decide:\n    type: transform\n    config: { transform: awaited }\n    await: { type: trigger, triggerType: user, payload: \"Refund 7?\" }\n    outputKey: answer\n";

#[test]
fn a_person_decides_on_the_page_in_a_browser() {
    let project = Project::new();
    project.write("flows/ask.yaml", ASKS);
    let server = project.serve();
    let mut browser = Browser::start();
    for (answer, approved) in [("approve", true), ("reject", false)] {
        let started = server.json(&["run", "ask"]);
        let run = started["runId"].as_str().unwrap();
        until(&server, run, "waiting");
        let why = server.json(&["runs", "why", run]);
        let mut page = browser.open(why["reasons"][0]["url"].as_str().unwrap());
        let asked = page.text();
        assert!(asked.contains("Refund 7?"), "{asked}");
        page.eval("document.querySelector('textarea').value = 'fine'");
        page.click(&format!("button[value={answer}]"));
        let shown = page.text();
        assert!(shown.contains("This has been "), "{shown}");
        let ended = until(&server, run, "completed");
        let given = json!({"approved": approved, "comment": "fine"});
        assert_eq!(ended["state"]["answer"], given, "{ended:#}");
    }
}

/// A browser without a window, spoken to in its DevTools protocol. Ended with the test.
struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    last_id: u64,
    _profile: tempfile::TempDir,
}

impl Browser {
    fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new(program())
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--remote-debugging-port=0",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = said.map_while(Result::ok);
        let url =
            said.find_map(|line| Some(line.split_once("DevTools listening on ")?.1.to_owned()));
        // Whatever else it says goes nowhere, and does not hold it up.
        std::thread::spawn(move || said.for_each(drop));
        let url = url.unwrap();
        let host = url.trim_start_matches("ws://").split('/').next().unwrap();
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(url.as_str(), stream).unwrap();
        Self {
            child,
            socket,
            last_id: 0,
            _profile: profile,
        }
    }

    /// A new tab with a page that has loaded.
    fn open(&mut self, url: &str) -> Page<'_> {
        let blank = json!({"url": "about:blank"});
        let target = self.ask(None, "Target.createTarget", blank);
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.ask(None, "Target.attachToTarget", attach);
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let mut page = Page {
            browser: self,
            session,
        };
        page.ask("Page.enable", json!({}));
        page.ask("Page.navigate", json!({ "url": url }));
        page.loaded();
        page
    }

    fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let message = Message::text(message.to_string());
        self.socket.send(message).unwrap();
        let answer = self.receive(|said| said["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Waits until it says something.
    fn receive(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let said = self.socket.read().unwrap().into_text().unwrap();
            let said = serde_json::from_str(&said).unwrap();
            if is_it(&said) {
                return said;
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> String {
    let named = std::env::var("RIVERRUN_TEST_BROWSER").ok();
    let known = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    let is_there = |program: &String| {
        let asked = Command::new(program).arg("--version").output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    let found = named.into_iter().chain(known).find(is_there);
    found.expect("there is no browser: scripts/browser.sh has not been run; make test does it")
}

struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
}

impl Page<'_> {
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.browser.ask(Some(&self.session), method, params)
    }

    /// Waits until a page has loaded.
    fn loaded(&mut self) {
        let session = &self.session;
        self.browser.receive(|said| {
            said["method"] == "Page.loadEventFired" && said["sessionId"] == **session
        });
    }

    fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    fn text(&mut self) -> String {
        let text = self.eval("document.body.innerText");
        text.as_str().unwrap().to_owned()
    }

    /// Clicks where a thing is, as a hand would, and waits for the page that follows.
    fn click(&mut self, selector: &str) {
        let place = format!(
            "(() => {{ const it = document.querySelector('{selector}').getBoundingClientRect(); return {{x: it.x + it.width / 2, y: it.y + it.height / 2}} }})()"
        );
        let place = self.eval(&place);
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({
                "type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1,
            });
            self.ask("Input.dispatchMouseEvent", click);
        }
        self.loaded();
    }
}
