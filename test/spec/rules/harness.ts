/** Harness delivery, proposals, pages and progress. */
import { later, section } from './rule.ts'

const evolution = 'evolution'
const pages = 'pages'

export const harness = [
  ...section('Harness routes', {
    'harness.absent': 'A scenario that serves no files, or a deployment without a harness recipe, answers 404.',
    'harness.adapters': 'GET /svc/harness/adapters answers {adapters}.',
    'harness.adapters-fields': 'Each adapter shows name, binary, trajectory_format, model_bindings and install spec.',
    'harness.manifest': 'The manifest has identity, files, evaluation, requires and components.',
    'harness.manifest-header': 'The manifest carries x-svc-release-id.',
    'harness.requires-union': 'requires is the union over the chain, the newest definition of a name winning.',
    'harness.tree-file': 'A declared tree file adds the entries as one JSON array; older clients may ignore it.',
    'harness.catalog': 'The harness catalog is oldest first with evaluation metrics and page_path.',
    'harness.rule-1': 'release_id pulls a catalog release; unknown or unrestorable is 404.',
    'harness.rule-2': 'Reads never wait for a step, and artifact and metrics come from one release.',
    'harness.rule-3': 'Several components list only the releases that changed the tree.',
    'harness.rule-4': 'An unknown adapter is 404.',
    'harness.head-header': 'A resident client learns of a new head from x-svc-release-id.',
    'harness.shipped': 'A built-in entry that the service ships anew is published at load as a row of operation shipped.',
    'harness.review-hold': later(evolution, 'A review hold commits the tree as pending while the previous head stays served.'),
  }),
  ...section('Install', {
    'harness.install-adapter': 'adapter is required; native and terminus are 400, naming the routes to use instead.',
    'harness.install-1': 'Any adapter with an install section can be installed.',
    'harness.install-2': 'The answer is a self-contained POSIX script that installs binary, tree and model binding.',
    'harness.install-3': 'Without a scenario one named harness-… is created, unless implicit creation is off.',
    'harness.install-4': 'A slow script starts with a preamble after half a second and fails in script form.',
    'harness.install-5': 'The script refuses while a requires item is not checked off.',
    'harness.install-address': 'The model binding names the address the request reached, also behind a gateway.',
    'harness.install-record': '~/.reef/installs holds the sha256 of each file and the address.',
    'harness.install-token': 'The token is filled from SVC_TOKEN when the script runs.',
    'harness.setup': 'svc-<adapter> setup records check-offs, also for a pending release.',
  }),
  ...section('Step records', {
    'steps.inventory': later(evolution, 'The inventory lists path and bytes of the retained files.'),
    'steps.file': later(evolution, 'path reads one listed JSON or JSONL file.'),
    'steps.confined': later(evolution, 'Absolute paths, traversal and symlinks are refused.'),
    'steps.limits': later(evolution, 'Over a limit is 400, never a cut.'),
    'steps.states': later(evolution, 'not_recorded, disabled and missing carry an empty list.'),
    'steps.no-store': later(evolution, 'Step reads answer no-store.'),
  }),
  ...section('Proposals', {
    'proposal.absent': 'A scenario whose recipe is no harness evolution recipe answers 404 naming that.',
    'proposal.shape': later(evolution, 'A proposal has mutations, reason, session and release_id; a malformed one is 400.'),
    'proposal.answer': later(evolution, 'It answers proposal_id, admitted, reason and release_id.'),
    'proposal.rule-1': later(evolution, 'Mutations are admitted against the head; each refusal names its rule.'),
    'proposal.rule-2': later(evolution, 'Admitted proposals wait in the inbox and are taken oldest first.'),
    'proposal.rule-3': later(evolution, 'A full inbox or manual mode is admitted: false with its reason.'),
    'decisions.proposer-reply': later(evolution, 'The text proposer reads one JSON array out of prose and fences.'),
  }),
  ...section('Pages and progress', {
    'page.version': later(pages, 'The version page is self-contained HTML with its cards in order.'),
    'page.version-step': later(pages, 'A step that is no number, too long or outside the catalog is 404.'),
    'page.version-walk': later(pages, 'A step walk links the neighbours; links are the two page routes alone.'),
    'page.version-json': later(pages, 'The row is embedded as JSON with every < escaped.'),
    'page.version-status': later(pages, 'The page shows its status words; a promoted row names the step.'),
    'page.request': later(pages, 'The request page shows request, progress and result, and is no-store.'),
    'page.request-reload': later(pages, 'It reloads every five seconds until settled.'),
    'page.request-activity': later(pages, 'It shows the latest 80 lines, newest first.'),
    'page.request-unknown': 'An unknown request id is 404 naming it, on the page and on the progress route.',
    'progress.fields': 'Progress shows state, meaning, step and activity.',
    'progress.headers-only': 'The progress route reads headers alone; a page key there is 401.',
    'progress.states': 'Request states follow the step that holds the request.',
  }),
]
