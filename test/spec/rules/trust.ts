/** Which changes wait for a person, what a client applies, and what an episode, an agent and traffic may not do. */
import { section } from './rule.ts'

export const trust = section('Trust', {
  'trust.powers': 'A change with a power that evolution.publish_powers does not list is held, whoever asked for it; the default is words.',
  'trust.unknown': 'What an adapter does not list has every power.',
  'trust.front-matter': 'Front matter is parsed strictly, and printed again from what was parsed.',
  'trust.start': 'A release that no step here published is admitted and reviewed before a scenario starts from it.',
  'trust.objects': 'Content is compared with its id, also out of packs, and replaced by nothing.',
  'trust.signed': 'A client applies a manifest only when the key it pinned signed every file of it.',
  'trust.update': 'An update that does not verify changes nothing, and says so in one line.',
  'trust.script': 'An install script is signed as a whole, and installs nothing when it was changed.',
  'trust.transport': 'A client refuses an address without TLS beyond this machine, unless a person allows it and names the key.',
  'trust.checks': 'A check of requires runs only after a person agreed to its text.',
  'trust.sandbox': 'Without a sandbox no episode is played, unless the configuration says local.',
  'trust.step-records': 'Step records are not for the session of an agent.',
  'trust.tasks-stay': 'No report takes a held-out task out of play, and what quotes one is kept from the proposer.',
  'trust.by-heart': 'A change that holds texts or answers of held-out tasks is refused, or held when a person asked for it.',
  'trust.unprotected': 'A request that no played task protects is held.',
  'trust.requests-together':
    'A request that is not shown to keep within the margin of what was served before the changes that it is added up with is held.',
  'trust.gains-together':
    'Where tasks of role regression are protected, a gain that is not shown to keep within the margin on them, together with the changes before it, is held.',
  'trust.upstream-key': 'The configured key of the provider leaves in no answer, no record and no line of the log.',
  'trust.traffic': 'Texts of traffic reach proposers and judges as quoted data alone.',
})

export const access = section('Access', {
  'access.tokens':
    'A token has a name, a role, the scenarios that it is for and an expiry; it is in force in every thread when the answer comes.',
  'access.roles': 'A route needs a right, and a role has rights; a token whose role lacks it is 401 role_forbids.',
  'access.scenarios': 'A token that is for some scenarios is 401 other_scenario for every other one, whether there is one or not.',
  'access.revoked':
    'A token that is revoked, replaced or expired, or whose scenario was archived, is 401 from then on, with its page keys.',
  'access.hashed': 'Of a secret its SHA-256 alone is kept; it is answered once.',
  'access.page-keys': 'A page key of a token that was made opens what that token may see, in its scenarios, while it lives.',
  'access.agent': 'The role agent sees no release that waits for review, no step records and no tasks.',
  'access.agent-asks': 'A change that is asked for or proposed with a token of the role agent is held until a person promotes it.',
  'access.install':
    'An install with a token of the role admin has one of the role agent made, for that machine and scenario alone; the one it was given is written nowhere.',
  'access.wrong-tokens': 'Many wrong tokens of one address are slowed and counted, and a token in use is not.',
  'access.sign-in':
    'A person signs in with the provider of the deployment, by code with PKCE, state and nonce, in one browser, and may do what their groups are listed for; people of none are 401 no_group.',
  'access.cookie': 'The cookie of a sign-in changes nothing but for pages of the service itself, and its secret is no token.',
  'access.limits':
    'Requests, tokens and money beyond the limit of a token or a scenario, and more requests at once, are 429 with retry-after, in the shape of the route.',
  'access.limits-exact':
    'Limits hold for all threads of a service together, for all services over one database within 2 %, and for one token or scenario alone.',
  'access.turns':
    'Where the upstream is asked as much as it may be, a scenario that asks for little is not kept waiting by one that asks for much.',
  'access.audit':
    'Every change of the deployment is an entry of the audit: who, what, when, from where, before and after; nothing changes one.',
  'access.forget':
    "POST /svc/forget removes a person's records by their tag with what was made of them, while requests are served, and says where it looked.",
})
