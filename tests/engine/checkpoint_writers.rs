//! Many concurrent writers of one document, half of them the protocol's shell loop.

use crate::counted::count;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use superpower::checkpoint::Place;
use superpower::checkpoint::record::Record;
use superpower::checkpoint::store::Store;

const LONG: Duration = Duration::from_secs(1800);

/// The protocol's loop with the JSON tool of this machine.
const SCRIPT: &str = r#"
track_dir=$1 name=$2 times=$3
lockfile="${track_dir}/.metadata.lock"
for _ in $(seq "$times"); do
  while ! mkdir "$lockfile" 2>/dev/null; do
    sleep 0.1
  done
  if command -v jq >/dev/null; then
    jq --arg name "$name" '.counts[$name] = (.counts[$name] // 0) + 1' "$track_dir/metadata.json" > "$track_dir/$name.tmp" &&
      mv "$track_dir/$name.tmp" "$track_dir/metadata.json"
  else
    python3 - "$track_dir/metadata.json" "$name" <<'END'
import json, os, sys
path, name = sys.argv[1:]
with open(path) as file:
    document = json.load(file)
counts = document.setdefault("counts", {})
counts[name] = counts.get(name, 0) + 1
with open(path + "." + name, "w") as file:
    json.dump(document, file, indent=2)
os.rename(path + "." + name, path)
END
  fi || exit 1
  rmdir "$lockfile"
done
"#;

fn script(dir: &Path, name: &str, times: usize) -> Child {
    Command::new("bash")
        .args(["-c", SCRIPT, "writer"])
        .arg(dir)
        .args([name, &times.to_string()])
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// 32 threads of ours and 32 scripts, each writing `times` times.
fn sixty_four_writers(times: usize) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::of_run(dir.path(), dir.path());
    let mut store = Store::new(place.clone());
    store.update(chrono::Utc::now(), LONG, |record, _| count(record, "first")).unwrap();
    let over = AtomicBool::new(false);
    let versions = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut versions = 0_usize;
            while !over.load(Ordering::Relaxed) {
                let text = fs::read_to_string(place.document()).unwrap();
                Record::parse(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
                versions += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            versions
        });
        let mut scripts: Vec<_> =
            (0..32).map(|number| script(dir.path(), &format!("script{number}"), times)).collect();
        let ours: Vec<_> = (0..32)
            .map(|number| {
                let place = place.clone();
                scope.spawn(move || {
                    let name = format!("ours{number}");
                    let mut store = Store::new(place);
                    for _ in 0..times {
                        let found =
                            store.update(chrono::Utc::now(), LONG, |record, _| count(record, &name)).unwrap();
                        assert_eq!((found.aside, found.broken), (None, None));
                    }
                })
            })
            .collect();
        ours.into_iter().for_each(|writer| writer.join().unwrap());
        assert!(scripts.iter_mut().all(|script| script.wait().unwrap().success()));
        over.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    let record = store.known().unwrap();
    let counts = record.json()["counts"].as_object().unwrap();
    assert_eq!(counts.len(), 65);
    for (name, count) in counts {
        assert_eq!(
            count.as_u64().unwrap() as usize,
            if name == "first" { 1 } else { times },
            "{name} lost updates"
        );
    }
    assert!(versions > 10, "nobody looked");
}

#[test]
fn sixty_four_writers_lose_nothing() {
    sixty_four_writers(2);
}

#[test]
#[ignore = "takes minutes: 10,000 updates"]
fn sixty_four_writers_lose_nothing_of_ten_thousand_updates() {
    sixty_four_writers(157);
}
