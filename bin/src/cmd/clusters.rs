//! `clusters`: lists the groups of similar documents.

use anyhow::Result;
use dedupdb::groups::{Cluster, ClusterQuery};

use crate::args::{Args, ClustersArgs};
use crate::cmd::pairs;
use crate::console::Console;
use crate::document_source::SourceChecker;
use crate::exit::Exit;
use crate::json;
use crate::number::{counted, four_decimals};
use crate::output::{Output, copy_column, escape};

/// Runs `clusters`.
pub(crate) fn run(
    args: &Args,
    clusters: &ClustersArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    let store = crate::store::open_to_read(args)?;
    let mut query = ClusterQuery::new()
        .linkage(clusters.linkage.into())
        .min_size(clusters.min_size)
        .exhaustive(clusters.exhaustive)
        .shortest(clusters.contained.shortest)
        .memory(clusters.memory);
    let containment = clusters.contained.containment;
    if let Some(least) = containment {
        query = query.containment(least);
    }
    if let Some(threshold) = clusters.threshold {
        query = query.threshold(threshold);
    }
    let mut files = SourceChecker::of(&store);
    let (mut found, mut members) = (0, 0);
    let all = store.clusters(query)?;
    let short = all.short();
    for (number, cluster) in (1..).zip(all) {
        let cluster = cluster?;
        list(number, &cluster, containment.is_some(), &mut files, output)?;
        found = number;
        members += cluster.members.len() as u64;
    }
    output.flush()?;
    if found > 0 {
        let clusters = counted(found, "cluster", "clusters");
        let documents = counted(members, "document", "documents");
        console.total(&format!("{clusters} of {documents}"));
    } else {
        let least = pairs::least(containment, clusters.threshold, &store);
        let size = counted(clusters.min_size as u64, "document", "or more documents");
        let none = format!("no cluster has {size} at a {least} or more");
        crate::store::note_none(&store, &none, console)?;
    }
    crate::store::note_short(&store, short, clusters.contained.shortest, console);
    files.note(args, console);
    if !clusters.exhaustive {
        let remedy = crate::store::EXHAUSTIVE;
        crate::store::note_threshold(&store, clusters.threshold, remedy, console);
    }
    crate::store::note_cut_short(store.searches_cut_short(), args, console);
    Ok(Exit::found(found > 0))
}

fn list(
    number: u64,
    cluster: &Cluster,
    by_containment: bool,
    files: &mut SourceChecker<'_>,
    output: &mut Output,
) -> Result<()> {
    for member in &cluster.members {
        let standing = files.look(&member.key)?;
        if output.is_json() {
            let mut object = json::ClusterMemberJson::new(number, cluster, member, standing);
            object.containment = member.containment.filter(|_| by_containment);
            output.object(&object)?;
        } else {
            let similarity = crate::number::similarity(member.jaccard, member.estimate);
            let key = escape(&member.key);
            let is_first = member.key == cluster.representative;
            let copy = if is_first {
                ""
            } else {
                copy_column(member.exact_copy, member.jaccard)
            };
            let containment = member.containment.filter(|_| by_containment);
            let containment = containment.map(|share| four_decimals(share) + "\t");
            let containment = containment.unwrap_or_default();
            output.line(format!("{number}\t{key}\t{containment}{similarity}{copy}"))?;
        }
    }
    Ok(())
}
