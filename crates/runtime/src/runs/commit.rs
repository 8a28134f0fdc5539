//! Commits of decisions about runs.

use riverrun_store::{Change, Commit, Receipt, Then};

use super::{Runs, cache::News};

impl Runs {
    /// Writes a decision about a run. What is known of the run once it is durable is known here
    /// before anybody hears of it, and before jobs that begin at once ask.
    pub(super) async fn commit(
        &self,
        commit: Commit,
        news: Option<News>,
    ) -> riverrun_store::Result<Receipt> {
        let fresh = news.as_ref().filter(|news| news.is_fresh);
        let mut has_jobs = false;
        for change in &commit.changes {
            match change {
                // An earlier run of this id may have been swept away and still be known here.
                Change::Create(new) if fresh.is_none_or(|fresh| fresh.run != new.id) => {
                    self.cache().forget(&new.id);
                }
                Change::Enqueue(_) => has_jobs = true,
                _ => {}
            }
        }
        let then = news.map(|news| {
            let runs = self.clone();
            move |receipt: &Receipt| runs.learn(news, receipt)
        });
        match has_jobs {
            true => self.dispatcher().commit(commit, then).await,
            false => {
                let then = then.map(|then| Box::new(then) as Then);
                self.base().commit_then(commit, then).await
            }
        }
    }

    /// What a commit makes known of a run, once it is durable.
    fn learn(&self, news: News, receipt: &Receipt) {
        let read = news.reader.map(|reader| (news.run.clone(), reader));
        self.cache().learn(news, receipt);
        // Before jobs begin: whoever ends one of them at once need not wait for somebody who has
        // nothing left to do here.
        if let Some((run, reader)) = read {
            self.mailboxes().leave(&run, reader);
        }
    }
}
