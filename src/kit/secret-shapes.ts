/**
 * The kept list of what secrets look like, by who hands them out. Every shape begins with fixed letters or a fixed frame and counts
 * what follows, so that prose, hashes and ids fit none, and so that matching takes time in proportion to the text.
 * A new one goes here, with a row in secrets.test.ts.
 */

/** No letter or digit before it: `task-` ends in `sk-`. */
export const ALONE = '(?<![A-Za-z0-9])'

const CLOUDS = [
  'AKIA[A-Z0-9]{16}',
  `${ALONE}(?:ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])`,
  `${ALONE}ABSK[A-Za-z0-9+/]{40}`,
  `${ALONE}AIza[A-Za-z0-9_-]{35}`,
  `${ALONE}ya29\\.[A-Za-z0-9_-]{20}`,
  `${ALONE}GOCSPX-[A-Za-z0-9_-]{20}`,
  `${ALONE}1//0[A-Za-z0-9_-]{30}`,
  '(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{40}',
  '[?&](?:amp;)?sig=[A-Za-z0-9%+/]{40}',
  `${ALONE}[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31}`,
  `${ALONE}do[opr]_v1_[a-f0-9]{64}`,
  `${ALONE}LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])`,
  `${ALONE}AKID[A-Za-z0-9]{32}`,
  `${ALONE}SCW[A-Z0-9]{17}(?![A-Za-z0-9])`,
  `${ALONE}v1\\.0-[a-f0-9]{24}-[a-f0-9]{100}`,
  `${ALONE}(?:fo1_[A-Za-z0-9_-]{40}|fm[12][ar]?_[A-Za-z0-9+/_-]{60})`,
  `${ALONE}HRKU-[A-Za-z0-9_-]{30}`,
  `${ALONE}(?:vcp|nfp|rnd|sbp)_[A-Za-z0-9]{24}`,
  `${ALONE}sb_secret_[A-Za-z0-9_-]{20}`,
  `${ALONE}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30}`,
  `${ALONE}dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{40}`,
  `${ALONE}hv[sbr]\\.[A-Za-z0-9_-]{24}`,
  `${ALONE}[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60}`,
  `${ALONE}pul-[a-f0-9]{40}`,
  `${ALONE}dapi[a-f0-9]{32}`,
  `${ALONE}dt0[a-z][0-9]{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}`,
  `${ALONE}t1\\.[A-Z0-9a-z_-]{40,2048}=?\\.[A-Za-z0-9_-]{80}`,
  `${ALONE}AQVN[A-Za-z0-9_-]{35}`,
  `${ALONE}sl\\.(?:u\\.)?[A-Za-z0-9_-]{120}`,
  `${ALONE}sha256~[A-Za-z0-9_-]{43}`,
  `${ALONE}tskey-[a-z]{3,12}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{24}`,
  `${ALONE}napi_[a-z0-9]{40}`,
  `${ALONE}mdb_sa_sk_[A-Za-z0-9_-]{30}`,
  `${ALONE}4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])`,
  `${ALONE}tk-us-[A-Za-z0-9_-]{40}`,
  `${ALONE}dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}`,
  `${ALONE}s\\.[A-Za-z0-9]{24}(?![A-Za-z0-9])(?=[^.]|$)`,
  `${ALONE}(?:pat|sat)\\.[A-Za-z0-9_-]{22}\\.[a-f0-9]{24}\\.[A-Za-z0-9]{20}`,
  `${ALONE}ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])`,
]

const FORGES = [
  'gh[pousr]_[A-Za-z0-9]{20}',
  'github_pat_[A-Za-z0-9_]{20}',
  `${ALONE}gl(?:pat|dt|rt|rtr|ptt|ft|imt|agent|oas|soat|cbt|ffct)-[A-Za-z0-9_.-]{20}`,
  `${ALONE}GR1348941[A-Za-z0-9_-]{20}`,
  `${ALONE}(?:ATATT3|ATCTT3)[A-Za-z0-9_=-]{40}`,
  `${ALONE}ATBB[A-Za-z0-9]{28}`,
  `${ALONE}BBDC-[A-Za-z0-9+/@]{40}`,
  `${ALONE}sgp_[A-Za-z0-9_]{40}`,
  `${ALONE}bku[a-z]_[A-Za-z0-9]{40}`,
  `${ALONE}CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,24}_[a-f0-9]{40}`,
  `${ALONE}sq[pua]_[a-f0-9]{40}`,
  `${ALONE}perm[:-][A-Za-z0-9+/=]{8,64}\\.[A-Za-z0-9+/=]{4,64}\\.[A-Za-z0-9]{30}`,
  `${ALONE}API-[A-Z0-9]{26}(?![A-Za-z0-9])`,
  '[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}',
  'BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM=[a-f0-9]{8}:[a-f0-9]{8}',
]

const CHATS = [
  'xox[abceprsod]-[A-Za-z0-9-]{10}',
  `${ALONE}xoxe\\.xox[bp]-[0-9]-[A-Za-z0-9]{20}`,
  `${ALONE}xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[a-f0-9]{20}`,
  'hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30}',
  'discord(?:app)?\\.com/api/webhooks/[0-9]{10,25}/[A-Za-z0-9_-]{40}',
  `${ALONE}[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27}`,
  `${ALONE}[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`,
  'webhook\\.office\\.com/webhookb2/[A-Za-z0-9@-]{60}',
  `${ALONE}syt_[A-Za-z0-9+/=_-]{2,80}_[A-Za-z]{20}_[A-Za-z0-9]{6}`,
  `${ALONE}xwfp-[A-Za-z0-9-]{40}`,
  'chat\\.googleapis\\.com/v1/spaces/[^\\s?]{1,100}\\?[^\\s]{0,200}token=[A-Za-z0-9_%-]{20}',
  'hooks\\.zapier\\.com/hooks/catch/[0-9]{4,12}/[A-Za-z0-9]{5,12}',
  'maker\\.ifttt\\.com/(?:use|trigger/[^\\s/]{1,60}/with/key)/[A-Za-z0-9_-]{20}',
]

const PAYMENTS = [
  `${ALONE}[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16}`,
  `${ALONE}whsec_[A-Za-z0-9+/=]{24}`,
  `${ALONE}sq0(?:atp|csp)-[A-Za-z0-9_-]{22}`,
  `${ALONE}EAAA[A-Za-z0-9_-]{60}`,
  'access_token\\$(?:production|sandbox)\\$[a-z0-9]{16}\\$[a-f0-9]{32}',
  `${ALONE}rzp_(?:live|test)_[A-Za-z0-9]{14}`,
  `${ALONE}FLWSECK(?:_TEST)?-[A-Za-z0-9]{12}`,
  `${ALONE}access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-`,
  `${ALONE}(?:live|test)_[A-Za-z0-9]{30}(?![A-Za-z0-9])`,
  `${ALONE}shippo_(?:live|test)_[a-f0-9]{40}`,
  `${ALONE}EZ[AT]K[A-Za-z0-9]{54}`,
  `${ALONE}duffel_(?:live|test)_[A-Za-z0-9_=-]{40}`,
  `${ALONE}xprv9[A-Za-z0-9]{100}`,
  `${ALONE}sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}`,
]

const REGISTRIES = [
  `${ALONE}npm_[A-Za-z0-9]{36}`,
  `${ALONE}pypi-Ag[A-Za-z0-9_-]{50}`,
  `${ALONE}rubygems_[a-f0-9]{48}`,
  `${ALONE}oy2[a-z0-9]{43}(?![A-Za-z0-9])`,
  `${ALONE}cio[A-Za-z0-9]{32}(?![A-Za-z0-9])`,
  `${ALONE}dckr_(?:pat|oat)_[A-Za-z0-9_-]{20}`,
  `${ALONE}AKCp[A-Za-z0-9]{60}`,
  `${ALONE}cmVmdGtu[A-Za-z0-9]{50}`,
  `${ALONE}CLOJARS_[a-z0-9]{60}`,
]

const MODELS = [
  // Of this service.
  `${ALONE}svc_token_[A-Za-z0-9_-]{40}`,
  `${ALONE}sk-[A-Za-z0-9_-]{16}`,
  // Letters before it do not hide one that has digits or capitals.
  'sk-(?=[A-Za-z_-]{0,15}[0-9])[A-Za-z0-9_-]{20}',
  `${ALONE}csk-[A-Za-z0-9]{40}`,
  `${ALONE}(?:hf|api_org)_[A-Za-z0-9]{30}`,
  `${ALONE}r8_[A-Za-z0-9]{37}`,
  `${ALONE}gsk_[A-Za-z0-9]{40}`,
  `${ALONE}xai-[A-Za-z0-9]{60}`,
  `${ALONE}pplx-[A-Za-z0-9]{40}`,
  `${ALONE}fw_[A-Za-z0-9]{22}`,
  `${ALONE}tgp_v1_[A-Za-z0-9_-]{40}`,
  `${ALONE}nvapi-[A-Za-z0-9_-]{60}`,
  `${ALONE}pa-[A-Za-z0-9_-]{43}`,
  `${ALONE}jina_[a-f0-9]{32}`,
  `${ALONE}tvly-[A-Za-z0-9-]{28}`,
  `${ALONE}lsv2_(?:pt|sk)_[a-f0-9]{32}`,
  `${ALONE}pcsk_[A-Za-z0-9_]{40}`,
  `${ALONE}sk_[a-f0-9]{48}`,
  `${ALONE}wandb_v1_[A-Za-z0-9_]{40}`,
  `${ALONE}fc-[a-f0-9]{32}`,
  `${ALONE}KGAT_[a-f0-9]{32}`,
  `${ALONE}esecret_[A-Za-z0-9]{24}`,
  `${ALONE}crsr_[a-f0-9]{60}`,
  `${ALONE}phx_[A-Za-z0-9]{40}`,
]

const TOOLS = [
  `${ALONE}glc_[A-Za-z0-9+/]{32}`,
  `${ALONE}glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}`,
  `${ALONE}NR(?:AK|II|JS|AA|RA|BR)-[A-Za-z0-9]{19}`,
  `${ALONE}sntr(?:ys_[A-Za-z0-9+/=_]{40}|yu_[a-f0-9]{64})`,
  `${ALONE}hc[abx](?:ik|lk)_[a-z0-9]{58}`,
  `${ALONE}(?:api|sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
  `${ALONE}pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}`,
  `${ALONE}CFPAT-[A-Za-z0-9_-]{43}`,
  `${ALONE}ntn_[A-Za-z0-9]{40}`,
  `${ALONE}secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])`,
  `${ALONE}lin_(?:api|oauth)_[A-Za-z0-9]{32}`,
  `${ALONE}fig(?:d|dr|ur|oa)_[A-Za-z0-9_-]{20}`,
  `${ALONE}PMAK-[a-f0-9]{24}-[a-f0-9]{34}`,
  `${ALONE}tfp_[A-Za-z0-9_-]{40}`,
  `${ALONE}shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`,
  `${ALONE}pat-(?:na|eu|ap)[0-9]-[0-9a-f]{8}-[0-9a-f]{4}-`,
  `${ALONE}[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])`,
  `${ALONE}key-[a-f0-9]{32}`,
  `${ALONE}SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16}`,
  `${ALONE}xkeysib-[a-f0-9]{64}-`,
  `${ALONE}re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20}`,
  `${ALONE}SK[a-f0-9]{32}`,
  `${ALONE}ops_eyJ[A-Za-z0-9_-]{80}`,
  `${ALONE}AGE-SECRET-KEY-1[A-Z0-9]{50}`,
  `${ALONE}pnu_[A-Za-z0-9]{36}`,
  `${ALONE}sk\\.eyJ[A-Za-z0-9_-]{60}`,
  `${ALONE}EAA[A-Z][A-Za-z0-9]{80}`,
  `${ALONE}fio-u-[A-Za-z0-9_=-]{60}`,
  `${ALONE}rdme_[a-z0-9]{70}`,
  `${ALONE}s-s4t2(?:ud|af)-[a-f0-9]{64}`,
  `${ALONE}[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`,
  `${ALONE}aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])`,
  `${ALONE}[12]/[0-9]{12,20}(?:/[0-9]{12,20})?:[a-f0-9]{32}`,
  `${ALONE}A{18,24}(?!A)(?=[A-Za-z%]{0,30}[0-9])[A-Za-z0-9%]{60}`,
  `${ALONE}django-insecure-[A-Za-z0-9!@#$%^&*()_=+-]{30}`,
  'APP_KEY=base64:[A-Za-z0-9+/]{43}=',
]

/** Keys and passwords that their frame gives away: headers, addresses, and lines of well-known files. */
const FRAMES = [
  '-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY',
  'PuTTY-User-Key-File-[0-9]',
  'PrivateKey ?= ?[A-Za-z0-9+/]{43}=',
  // From where its word begins: a word that repeats the first letters would otherwise be read from each of them to its end.
  `${ALONE}(?<![_-])(?:[A-Za-z0-9_-]{0,64}[_-])?eyJ[A-Za-z0-9_-]{8,4096}\\.eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8}`,
  '\\$(?:apr1|2[abxy]|[156]|y|argon2id?)\\$[./A-Za-z0-9$=,]{20}',
  '_(?:authToken|password|auth)[ \\t]{0,4}=[ \\t]{0,4}"?(?![$<{"])[^\\s"]{8}',
  '(?:machine[ \\t]{1,20}(?:localhost|[^\\s.]{1,100}\\.\\S{1,100})|default)\\s{1,20}login\\s{1,20}\\S{1,200}\\s{1,20}password\\s{1,20}(?![$<{*])\\S{4}',
  '(?<![^\\n])[\\w.*-]{1,100}:(?:543[0-9]|6432|6543|\\*):[\\w.*-]{1,63}:[\\w.-]{1,63}:(?![$<{*])\\S{4}',
  '"auth"\\s{0,4}:\\s{0,4}"[A-Za-z0-9+/]{20}',
  'client-key-data:\\s{0,4}[A-Za-z0-9+/=]{60}',
  '(?:aws_?)?secret_?access_?key["\']?\\s{0,4}[:=]\\s{0,4}["\']?[A-Za-z0-9/+]{40}',
  'authorization["\']?\\s{0,4}[:=]\\s{0,4}["\']?(?:bearer|basic|token)\\s{1,4}(?=[A-Za-z._~+/=-]{0,40}[0-9])[A-Za-z0-9._~+/=-]{16}',
  '\\bcurl\\b[^\\n]{0,200}\\s(?:-u|--user)[ =]["\']?[^\\s:"\'$<]{1,100}:(?![$<{*]|pass|xxx)[^\\s"\'$<*]{4}',
  '-{4,5} ?BEGIN OpenVPN Static key',
  '(?:server|data source|host|addr(?:ess)?)\\s?=[^\\n;]{1,200};[^\\n]{0,300}(?:password|pwd)\\s?=\\s?(?![$<{*%/.~]|pass|xxx|your)[^;\\s"\']{4}',
  'x-(?:api|auth|access)-(?:key|token)["\']?\\s{0,4}[:=]\\s{0,4}["\']?(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20}',
  '(?:aws_?)?session_?token["\']?\\s{0,4}[:=]\\s{0,4}["\']?[A-Za-z0-9/+=]{100}',
]

/** Case-sensitive, as their makers write them. */
export const KEY_SHAPES = [...CLOUDS, ...FORGES, ...CHATS, ...PAYMENTS, ...REGISTRIES, ...MODELS, ...TOOLS]
/** In any case. */
export const FRAME_SHAPES = FRAMES

/** The user and password of an address. */
export const ADDRESS_PASSWORD = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"`<>]{0,100}:([^\s:/@'"`<>]{3,200})@[^\s@]/gi
/** A value that is given to a name such as `api_key`. */
export const NAMED_VALUE =
  /(?:api[_-]?key|secret|(?:access|auth|refresh|bearer)[_-]?token|passw(?:or)?d|private[_-]?key|client[_-]?secret)["'`]?\s{0,4}(?::=|=>|[:=])\s{0,4}["'`]?([A-Za-z0-9+/_=!@#%^&*.~-]{12,512})/gi
/** What stands where a secret would be. */
export const PLACEHOLDER =
  /^(?:\W|.*(?:pass(?:word|wd|phrase)?|secret|token|example|sample|dummy|placeholder|changeme|change[_-]me|redacted|your|here|xxx|\*\*\*|\.\.\.|env|process|config|test|fake|none|null|undefined|true|false)|[a-z]{1,12}$|(.)\1+$)/i
