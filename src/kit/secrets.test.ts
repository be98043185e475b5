/** Secrets are made up while the test runs, from parts, so that nothing here looks like one. */
import { describe, expect, it } from 'vitest'
import { screenText } from './screen.ts'
import { holdsSecret, withoutSecrets } from './secrets.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const ANY = `${LETTERS}${LETTERS.toUpperCase()}0123456789`
const HEX = '0123456789abcdef'
const CAPITALS = `${LETTERS.toUpperCase()}234567`

/** Text of no meaning, the same on every run. */
function made(count: number, alphabet = ANY): string {
  let state = count * 7919 + alphabet.length
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return alphabet[Math.floor((state / 2_147_483_648) * alphabet.length)]
  }).join('')
}

const hex = (count: number): string => made(count, HEX)
const uuid = (): string => [8, 4, 4, 4, 12].map(hex).join('-')
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const jwt = (): string => [base64('{"alg":"HS256"}'), base64('{"sub":"1234567890"}'), made(43)].join('.').replaceAll('=', '')
const whole = (parts: string): string => parts.replaceAll('·', '')
const key = (): string => whole(`sk·-proj-${made(40)}`)
const pem = (kind: string): string => `${'-'.repeat(5)}BEGIN ${kind}PRIVATE KEY${'-'.repeat(5)}\n${made(64)}\n`

/** The dot keeps the parts of each apart in this file. */
const KEYS: Readonly<Record<string, string>> = {
  'AWS access key': `AK·IA${made(16, CAPITALS)}`,
  'AWS session key': `AS·IA${made(16, CAPITALS)}`,
  'AWS secret key in a file': `aws_secret_·access_key = ${made(40)}`,
  'AWS secret key in JSON': `"Secret·AccessKey": "${made(40)}"`,
  Bedrock: `AB·SK${made(60)}`,
  'Google API': `AI·za${made(35)}`,
  'Google OAuth token': `ya·29.${made(60)}`,
  'Google client secret': `GOC·SPX-${made(28)}`,
  'Google refresh token': `1/·/0${made(40)}`,
  'Azure storage': `Account·Key=${made(86)}==`,
  'Azure service bus': `SharedAccess·Key=${made(43)}=`,
  'Azure shared access': `https://a.blob.core.windows.net/b?sv=2024&·sig=${made(43)}%3D`,
  'Azure client secret': `${made(3)}8·Q~${made(34)}`,
  DigitalOcean: `do·p_v1_${hex(64)}`,
  Alibaba: `LT·AI${made(20)}`,
  Tencent: `AK·ID${made(32)}`,
  Scaleway: `SC·W${made(17, CAPITALS)}`,
  'Cloudflare origin': `v1·.0-${hex(24)}-${hex(146)}`,
  'Fly.io': `fo·1_${made(43)}`,
  Heroku: `HR·KU-${made(58)}`,
  Vercel: `vc·p_${made(56)}`,
  Netlify: `nf·p_${made(36)}`,
  Render: `rn·d_${made(32)}`,
  'Supabase personal': `sb·p_${hex(40)}`,
  'Supabase secret': `sb_·secret_${made(31)}`,
  PlanetScale: `pscale·_tkn_${made(43)}`,
  Doppler: `dp·.pt.${made(43)}`,
  Vault: `hv·s.${made(90)}`,
  Terraform: `${made(14)}.atlas·v1.${made(67)}`,
  Pulumi: `pu·l-${hex(40)}`,
  Databricks: `da·pi${hex(32)}`,
  Dynatrace: `dt0·c01.${made(24, CAPITALS)}.${made(64, CAPITALS)}`,
  'GitHub personal': `gh·p_${made(36)}`,
  'GitHub OAuth': `gh·o_${made(36)}`,
  'GitHub user': `gh·u_${made(36)}`,
  'GitHub server': `gh·s_${made(36)}`,
  'GitHub refresh': `gh·r_${made(36)}`,
  'GitHub fine-grained': `github_·pat_${made(22)}_${made(59)}`,
  'GitLab personal': `gl·pat-${made(20)}`,
  'GitLab deploy': `gl·dt-${made(20)}`,
  'GitLab runner': `gl·rt-${made(20)}`,
  'GitLab registration': `GR13·48941${made(20)}`,
  Atlassian: `ATA·TT3${made(180)}`,
  'Bitbucket app': `AT·BB${made(32)}`,
  'Bitbucket server': `BB·DC-${made(44)}`,
  Sourcegraph: `sg·p_${hex(40)}`,
  Buildkite: `bk·ua_${hex(40)}`,
  CircleCI: `CCI·PAT_${made(22)}_${hex(40)}`,
  SonarQube: `sq·u_${hex(40)}`,
  'Slack bot': `xo·xb-${made(12, '0123456789')}-${made(24)}`,
  'Slack user': `xo·xp-${made(12, '0123456789')}-${made(24)}`,
  'Slack app': `xa·pp-1-A${made(10, CAPITALS)}-${made(13, '0123456789')}-${hex(64)}`,
  'Slack refresh': `xo·xe-1-${made(140)}`,
  'Slack webhook': `https://hooks.slack·.com/services/T${made(8, CAPITALS)}/B${made(8, CAPITALS)}/${made(24)}`,
  'Discord webhook': `https://discord·.com/api/webhooks/${made(18, '0123456789')}/${made(68)}`,
  'Discord bot': `M${made(25)}.${made(6)}.${made(38)}`,
  Telegram: `${made(10, '123456789')}:·AA${made(33)}`,
  'Teams webhook': `https://a.webhook.office·.com/webhookb2/${uuid()}@${uuid()}/IncomingWebhook/x`,
  Matrix: `syt·_${base64('user')}_${made(20, LETTERS)}_${made(6)}`,
  'Stripe live': `sk_·live_${made(24)}`,
  'Stripe test': `sk_·test_${made(24)}`,
  'Stripe restricted': `rk_·live_${made(24)}`,
  'Stripe webhook': `wh·sec_${made(32)}`,
  'Square access': `sq0·atp-${made(22)}`,
  'Square new': `EA·AA${made(60)}`,
  Braintree: `access_token·$production$${made(16, LETTERS)}$${hex(32)}`,
  Razorpay: `rzp·_live_${made(14)}`,
  Flutterwave: `FLW·SECK-${hex(32)}-X`,
  Plaid: `access·-production-${uuid()}`,
  Mollie: `li·ve_${made(30)}`,
  Shippo: `shippo·_live_${hex(40)}`,
  EasyPost: `EZ·AK${made(54)}`,
  npm: `np·m_${made(36)}`,
  PyPI: `pypi·-AgEIcHlwaS5vcmc${made(80)}`,
  RubyGems: `ruby·gems_${hex(48)}`,
  NuGet: `oy·2${made(43, `${LETTERS}0123456789`)}`,
  'crates.io': `ci·o${made(32)}`,
  Docker: `dckr·_pat_${made(27)}`,
  Artifactory: `AK·Cp${made(69)}`,
  'Artifactory reference': `cmVmd·Gtu${made(56)}`,
  Clojars: `CLO·JARS_${made(60, `${LETTERS}0123456789`)}`,
  OpenAI: key(),
  'OpenAI of the first kind': `sk·-${made(48)}`,
  Anthropic: `sk·-ant-api03-${made(93)}`,
  OpenRouter: `sk·-or-v1-${hex(64)}`,
  Langfuse: `sk·-lf-${uuid()}`,
  'an OpenAI key after a letter': `x${key()}`,
  Cerebras: `cs·k-${made(48)}`,
  'Hugging Face': `h·f_${made(34)}`,
  'Hugging Face organization': `api·_org_${made(34)}`,
  Replicate: `r·8_${made(37)}`,
  Groq: `gs·k_${made(52)}`,
  xAI: `xa·i-${made(80)}`,
  Perplexity: `pp·lx-${made(48)}`,
  Fireworks: `f·w_${made(24)}`,
  Together: `tgp·_v1_${made(43)}`,
  NVIDIA: `nv·api-${made(64)}`,
  Voyage: `p·a-${made(43)}`,
  Jina: `ji·na_${hex(32)}${made(28)}`,
  Tavily: `tv·ly-dev-${made(32)}`,
  LangSmith: `ls·v2_pt_${hex(32)}_${hex(10)}`,
  Pinecone: `pc·sk_${made(60)}`,
  ElevenLabs: `s·k_${hex(48)}`,
  'Weights & Biases': `wandb·_v1_${made(60)}`,
  Firecrawl: `f·c-${hex(32)}`,
  Kaggle: `KG·AT_${hex(32)}`,
  'Grafana cloud': `gl·c_${made(60)}`,
  'Grafana service': `gl·sa_${made(32)}_${hex(8)}`,
  'New Relic': `NR·AK-${made(27, CAPITALS)}`,
  'Sentry organization': `sn·trys_${made(80)}`,
  'Sentry user': `sn·tryu_${hex(64)}`,
  Honeycomb: `hc·aik_${made(58, `${LETTERS}0123456789`)}`,
  LaunchDarkly: `sd·k-${uuid()}`,
  Airtable: `pa·t${made(14)}.${hex(64)}`,
  Contentful: `CF·PAT-${made(43)}`,
  Notion: `nt·n_${made(46)}`,
  'Notion of the first kind': `sec·ret_${made(43)}`,
  Linear: `lin·_api_${made(40)}`,
  Figma: `fi·gd_${made(40)}`,
  Postman: `PM·AK-${hex(24)}-${hex(34)}`,
  Typeform: `tf·p_${made(59)}`,
  Shopify: `shp·at_${hex(32)}`,
  HubSpot: `pa·t-na1-${uuid()}`,
  Mailchimp: `${hex(32)}-·us12`,
  Mailgun: `ke·y-${hex(32)}`,
  SendGrid: `S·G.${made(22)}.${made(43)}`,
  Brevo: `xke·ysib-${hex(64)}-${made(16)}`,
  Resend: `r·e_${made(8)}_${made(24)}`,
  Twilio: `S·K${hex(32)}`,
  '1Password': `op·s_eyJ${made(120)}`,
  age: `AGE-SECRET·-KEY-1${made(58, CAPITALS)}`,
  Prefect: `pn·u_${made(36)}`,
  JWT: jwt(),
  'a bearer header': `Author·ization: Bearer ${made(40)}`,
  'a basic header': `'author·ization': 'Basic ${base64(`user:${made(12)}`)}'`,
  'a private key': pem(''),
  'an RSA key': pem('RSA '),
  'an OpenSSH key': pem('OPENSSH '),
  'a PGP key': `${'-'.repeat(5)}BEGIN PGP PRIVATE KEY BLOCK${'-'.repeat(5)}`,
  'a PuTTY key': `PuTTY-User-·Key-File-3: ssh-ed25519`,
  'a WireGuard key': `Private·Key = ${made(43)}=`,
  'a password hash': `root:$·6$${made(16)}$${made(86)}`,
  'an address with a password': `postgres://app:${made(14)}@db.internal:5432/app`,
  'an address with a password alone': `redis://:${made(14)}@cache:6379`,
  'an https address with a token': `https://oauth2:${made(20)}@git.host/x.git`,
  '.npmrc': `//registry.host/:·_authToken=${made(36)}`,
  '.npmrc password': `//registry.host/:·_password=${base64(made(12))}`,
  '.netrc': `machine api.host login me pass·word ${made(12)}`,
  '.netrc over lines': `machine api.host\n  login me\n  pass·word ${made(12)}`,
  '.pgpass': `db.host:5432:app:me:${made(12)}`,
  '.pgpass with stars': `db.host:*:*:me:${made(12)}`,
  'the settings of docker': `{"auths": {"host": {"·auth": "${base64(`me:${made(20)}`)}"}}}`,
  kubeconfig: `client-key·-data: ${base64(made(80))}`,
  'curl with a password': `curl -s -u me:${made(12)} https://host`,
  'a named key': `api·_key = "${made(32)}"`,
  'a named secret in YAML': `client·_secret: ${made(40)}`,
  'a named key in hexadecimal': `API·_KEY=${hex(40)}`,
}

describe('a secret is found, and taken out of its text', () => {
  it.each(Object.entries(KEYS))('%s', (_, parts) => {
    const secret = whole(parts)
    const text = `The value is ${secret} and stays here.`
    const own = secret.includes(':5432:') || secret.includes(':*:') ? `# hosts\n${secret}\nend` : text
    expect(screenText(own)).toBe('credential_in_text')
    const clean = withoutSecrets(own)
    expect(holdsSecret(clean)).toBe(false)
    expect(clean).toContain('[redacted]')
  })
})

const chopped = (by: string): string => Array.from(key()).join(by)

describe('a secret is found under a disguise', () => {
  it.each<[string, string]>([
    ['zero-width spaces', chopped('\u200b')],
    ['joiners', chopped('\u2060')],
    ['soft hyphens', chopped('\u00ad')],
    ['tag characters', chopped('\u{e0041}')],
    ['variation selectors', chopped('\ufe0f')],
    ['Hangul fillers', chopped('\u3164')],
    ['a grapheme joiner', chopped('\u034f')],
    ['full-width letters', Array.from(key(), (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0)).join('')],
    ['Base64', base64(key())],
    ['Base64 in an address', Buffer.from(key()).toString('base64url')],
    ['Base64 of a sentence', base64(`use ${key()} for it`)],
    ['hexadecimal', Buffer.from(key()).toString('hex')],
    ['percent signs', Array.from(key(), (each) => `%${each.charCodeAt(0).toString(16)}`).join('')],
    ['one percent sign', key().replace('-', '%2D')],
    ['escapes of JSON', Array.from(key(), (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('')],
    ['escapes of a shell', Array.from(key(), (each) => `\\x${each.charCodeAt(0).toString(16)}`).join('')],
    ['parts that a program joins', `const k = '${key().slice(0, 6)}' + '${key().slice(6)}'`],
    ['parts side by side', `"${key().slice(0, 6)}" "${key().slice(6)}"`],
    ['a private key in Base64', base64(pem('RSA '))],
    ['Base64 of an address', base64(`postgres://app:${made(14)}@db.internal/app`)],
  ])('%s', (_, text) => {
    expect(screenText(`Value: ${text}.`)).toBe('credential_in_text')
    expect(holdsSecret(withoutSecrets(`Value: ${text}.`))).toBe(false)
  })
})

describe('text that is no secret passes', () => {
  it.each([
    'Always run the tests before you answer.',
    'The task-management-and-risk-assessment-framework is described in docs.',
    'A disk-encryption-settings-page and an ask-me-anything-about-it thread.',
    'Use sk-learn for this.',
    'a desk-side-support-engineering-team',
    'Put the key in OPENAI_API_KEY; never write it down.',
    'export OPENAI_API_KEY=sk-...',
    'api_key: ${API_KEY}',
    'apiKey: process.env.OPENAI_API_KEY,',
    "const password = process.env['DATABASE_PASSWORD']",
    'password = getpass.getpass()',
    'token = await getAccessTokenFromKeychain(account)',
    'secret: your-secret-goes-here-please',
    'api_key = "YOUR_API_KEY_GOES_HERE_123"',
    'access_token: <your access token>',
    'client_secret=xxxxxxxxxxxxxxxxxxxxxxxx',
    'password: ********************',
    'max_tokens: 4096, token_count: 123456789012345678901234',
    'postgres://user:password@localhost:5432/db',
    'postgres://user:${PASSWORD}@localhost/db',
    'postgres://app@localhost/db',
    'mysql://root:<password>@127.0.0.1:3306/test',
    'redis://:$REDIS_PASSWORD@cache:6379',
    'https://example.com:8080/path@2x.png',
    'https://host/path?time=12:30@noon',
    'Write to me@example.com: it is 12:30 @ the office.',
    'git@github.com:owner/repository.git',
    'ssh://git@host:22/owner/repository.git',
    'Authorization: Bearer <token>',
    'Authorization: Bearer $TOKEN',
    'authorization: `Bearer ${token}`',
    'curl -u user:$PASSWORD https://host',
    'curl -H "x-api-key: $KEY" https://host',
    `commit ${hex(40)}`,
    `sha256:${hex(64)}`,
    `"integrity": "sha512-${made(86)}=="`,
    `resolved "https://registry.host/a/-/a-1.0.0.tgz#${hex(40)}"`,
    `id: ${uuid()}`,
    `release_id ${hex(40)}, content_id ${hex(40)}`,
    `etag: W/"${hex(32)}"`,
    `md5 ${hex(32)} *file.iso`,
    `trace ${hex(32)}-${hex(16)}-01`,
    `data:image/png;base64,${base64('\u0089PNG '.repeat(20))}`,
    `<svg><path d="M10 20 L30 40 ${'10 20 '.repeat(20)}"/></svg>`,
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${made(43)} me@host`,
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----',
    'file.ts:120:5: error: unexpected token',
    'server.log:80:5432:worker:ready',
    '12:30:45:678:ok',
    'a:b:c:d:e',
    'machine learning login page password field',
    'The default login asks for a password twice.',
    'key-value-store, key-by-key-comparison-of-both',
    'pa-rental-agreement, re_export, hf_hub, gsk_like_names',
    'test_that_a_title_of_a_test_is_no_key_at_all',
    'live_reload_of_the_development_server_works',
    'secret_santa_list_for_the_whole_company_of_us',
    'npm_config_registry=https://registry.host npm_package_version',
    'pypi-server and rubygems_index and dckr',
    'SK is the code of Slovakia; SG. is an abbreviation.',
    'v1.0-beta, v1.0-rc.1',
    'AKIA is how such keys begin.',
    'ghp_ and gho_ are prefixes of tokens.',
    'xoxb- is the prefix of a bot.',
    'eyJ is how a JWT begins.',
    'The header is x-api-key.',
    `const cache_key = '${hex(32)}'`,
    'primary_key: id, foreign_key: user_id, sort_key: created_at',
    'keyboard = Keyboard(); monkey: Monkey',
    'password: string; token: string | null; secret?: Buffer',
    'passwordField.type = "password"',
    'secret = readFileSync("/run/secrets/db")',
    'auth_token = session.cookies.get("auth_token_of_session")',
    'private_key: path/to/the/private-key-file.pem',
    'bearer_token: config.bearerTokenFromTheFile',
    'The quick brown fox jumps over the lazy dog. '.repeat(20),
    'lorem-ipsum-dolor-sit-amet-consectetur-adipiscing-elit-sed-do',
    'antidisestablishmentarianism_pneumonoultramicroscopicsilicovolcanoconiosis',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ',
    '/usr/local/lib/node_modules/@scope/package/dist/index.min.js.map',
    'C:\\Users\\me\\AppData\\Local\\Temp\\file.txt',
    'import { a as b } from "../../../src/contract/index.ts"',
    `{"a": [1, 2, 3], "b": "${'0'.repeat(64)}"}`,
    '%20%2F%3A are escapes; \\u0041 and \\x41 too.',
    'сборка прошла, 構築は成功しました, بنية ناجحة',
    '1//2 is half; 1//0 divides by zero',
    'Roman numerals: MCMXCIV. NaN. OMG.WTF.BBQ',
    'M.A.S.H, N.A.S.A., O.K.',
  ])('%s', (text) => {
    expect(screenText(text)).toBeNull()
    expect(withoutSecrets(text)).toBe(text)
  })
})

it('text without an end is read in time', () => {
  const long = ['a', '-', 'sk-', 'eyJa.', 'a:', '//', 'api_key=', '%41', '\\u0041', 'AKIA', '" + "', 'http://a:', 'A1b2', '$6$'].map(
    (part) => part.repeat(65_536 / part.length),
  )
  for (const text of long) expect(typeof withoutSecrets(text)).toBe('string')
})
