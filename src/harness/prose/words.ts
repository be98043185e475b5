/** Words that tell an agent to act beyond its answer. Alone they are enough, or together with a second word nearby. */
import type { Power } from '../../contract/index.ts'

/** What a word or two of them would make the agent do. */
export interface Telling {
  readonly power: Power
  /** Completes "it speaks of …". */
  readonly what: string
}

const telling = (power: Power, what: string, words: string): readonly [string, Telling][] =>
  words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word): [string, Telling] => [word, { power, what }])

/** One of these is enough, in any of its forms. Accents are left out. */
export const TELLING: ReadonlyMap<string, Telling> = new Map([
  ...telling(
    'orders',
    'running something',
    `run ran rerun execute exec execution launch invoke spawn subprocess eval install uninstall reinstall deploy sudo doas su shell bash zsh
    sh fish powershell pwsh cmd terminal console script command cli cron crontab daemon systemd executable npm npx pnpm yarn bun deno
    pip pipx uv brew apt yum docker podman kubectl git svn commit push pull clone rebase checkout chmod chown rm rmdir mv cp cat tee grep
    sed awk kill pkill nohup tmux osascript applescript macro plugin extension hook mcp makefile autorun startup bootstrap patch trigger
    ausfuhren ausfuehren fuhre fuehre starte ejecuta ejecutar ejecute corre executer executez executa executar esegui eseguire uitvoeren
    voer lance lancez installiere instala installe`,
  ),
  ...telling(
    'orders',
    'fetching something',
    `fetch download curl wget browse browser visit navigate crawl scrape url urls uri link hyperlink website webpage web site internet online
    http https ftp sftp scp rsync host hostname localhost server endpoint webhook api apis domain subdomain dns ip ipv4 ipv6 port proxy vpn
    network socket remote cloud aws gcp azure s3 bucket cdn github gitlab bitbucket gist pastebin tor onion google bing redirect callback
    retrieve herunterladen lade abrufen descarga descargar telecharge telecharger scarica scaricare baixe baixar downloaden`,
  ),
  ...telling(
    'orders',
    'sending something',
    `send sent resend transmit forward upload post repost email emails mail mailto gmail smtp sms publish broadcast share submit exfiltrate
    exfiltration leak leaking beacon notify notification ping slack discord telegram whatsapp twitter tweet relay stream upstream outbound
    sende senden schicke schicken ubermittle envia enviar envie envoie envoyer envoyez invia inviare stuur verstuur`,
  ),
  ...telling(
    'orders',
    'a secret',
    `password passwords passwd passphrase passcode pin credential secret token tokens apikey keychain keyring wallet cookie cookies dotenv
    env environ ssh rsa gpg pgp pem netrc npmrc kubeconfig vault oauth jwt bearer login logon auth authenticate authentication mnemonic
    clipboard keystroke keylogger screenshot webcam microphone passwort geheimnis contrasena motdepasse senha parola wachtwoord`,
  ),
  ...telling(
    'orders',
    'ignoring or replacing instructions',
    `ignore ignoring disregard override overrule overridden bypass circumvent evade forget forgotten supersede overwrite jailbreak jailbroken
    unrestricted uncensored unfiltered disable deactivate instruction instructions directive directives obey comply prompt prompts pretend
    roleplay persona impersonate simulate dan developer assistant operator administrator ignoriere ignorieren missachte vergiss
    anweisung anweisungen ignora ignorar ignorez ignorer oublie oubliez olvida olvidar desconsidere dimentica negeer vergeet instrucciones
    consignes istruzioni instrucoes`,
  ),
  ...telling(
    'orders',
    'hiding something from the person',
    `silently silent secretly quietly quiet covertly covert discreetly discreet stealthily stealth hide hidden hides hiding conceal disguise
    invisible invisibly unnoticed undetected camouflage steganography whitespace-encoded heimlich verschweige verstecke secretamente oculta
    ocultar cache cachez discretement segretamente nascondi`,
  ),
  ...telling(
    'orders',
    'encoded or harmful text',
    `base64 base32 rot13 hex hexadecimal cipher decipher decrypt encrypt encode encoded decode decoded unescape obfuscate obfuscated payload
    backdoor malware ransomware virus trojan rootkit exploit vulnerability inject injection injected malicious poison phish phishing ddos
    botnet slash private external vendor contact consult phone outsider stranger miner bitcoin ethereum crypto blockchain`,
  ),
  ...telling(
    'orders',
    'a place beyond the answer',
    `file files folder folders directory directories branch mirror origin archive backup computer machine laptop desktop device pipeline workflow session profile workspace dashboard board
    tracker ticket wiki intranet portal inbox mailbox spreadsheet sheet survey questionnaire form forum newsgroup headquarters liaison depot
    warehouse ledger dossier database dataset datastore filesystem drive partition cluster container vm kernel process thread sandbox program
    software firmware toolkit sdk addon dotfile dotfiles readme changelog ci cd gitignore config configuration setting settings environment`,
  ),
  ...telling(
    'orders',
    'what belongs to people',
    `salary wage income birth birthday birthdate passport license licence identity surname nickname gender race religion illness
    diagnosis biometric fingerprint iban cvv ssn bank banking mortgage loan savings fund shares creds cred login signin username userid
    personal confidential sensitive classified privacy`,
  ),
  ...telling(
    'orders',
    'other agents, or later sessions',
    `agent agents subagent bot bots chatbot llm ai model memory memorise memorize conversation conversations diary journal successor offspring
    helper helpers worker orchestrator preamble transcript`,
  ),
  ...telling(
    'orders',
    'taking precedence',
    'outrank outranks trump trumps prevail prevails supreme overriding rescind revoke repeal annul nullify void waive lift suspend',
  ),
  ...telling(
    'orders',
    'changing the machine',
    `delete erase wipe destroy shred purge discard trash scrub rid nuke mount unmount reboot shutdown registry bashrc zshrc dependency
    dependencies package packages library libraries import lockfile certificate certificates tls ssl csrf cors firewall pay
    payment purchase buy transfer donate invoice losche loesche borra borrar supprime supprimer elimina apaga verwijder`,
  ),
  ...telling(
    'grants',
    'acting without the person',
    `permission permissions approval approve approved consent authorize authorise authorized authorised authorization privilege privileges
    privileged grant granted sandbox guardrail guardrails safeguard safety unsafe dangerous dangerously yolo autopilot unattended autonomous
    autonomously refusal proceed escalate elevated admin force forced accept acceptance allowlist whitelist denylist blacklist trusted trust whatever
    regardless erlaubnis permiso autorizacion autorisation permesso`,
  ),
  ...telling('orders', 'a template of a chat format', 'imstart imend endoftext startheaderid endheaderid eotid inst sys toolcall'),
])

export interface Pairing extends Telling {
  readonly one: ReadonlySet<string>
  readonly other: ReadonlySet<string>
}
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''))

/** Two of these within a few words are enough. */
export const PAIRINGS: readonly Pairing[] = [
  {
    power: 'orders',
    what: 'what lies on the machine',
    one: words(`read open load look see view inspect search scan find include attach append paste quote reveal print show dump list display
      output echo copy content contents save write store create make edit change modify rename move remove drop clear replace add put use take
      give return state tell say repeat recite summarise summarize describe translate check consult start call get import embed`),
    other:
      words(`file files folder folders directory directories disk drive home desktop config configuration settings environment repository repo
      database log logs history key keys program programs process processes machine computer laptop device workspace project camera
      attachment attachments identity account accounts`),
  },
  {
    power: 'grants',
    what: 'going on without the person',
    one: words(`user users person people human humans owner customer client reviewer maintainer anyone someone he she boss`),
    other:
      words(`ask asks asking asked agree agrees agreed confirm confirms confirmed confirmation consented allow allows allowed refuse refuses
      refused decline declines declined deny denies denied object objects objection warn warning inform informed informing know knows notice
      notices noticing stop stops permit permits permitted veto yes away absent silence`),
  },
  {
    power: 'orders',
    what: 'keeping something from the person',
    one: words(`never not dont without no avoid stop cannot refrain`),
    other: words(`mention tell telling reveal disclose inform report record notify warn log logging confirm admit acknowledge refuse
      refusing decline ask asking`),
  },
  {
    power: 'grants',
    what: 'leaving out a check',
    one: words(
      `skip skipping omit bypassing suppress leave ignore without avoid disable off no never stop drop remove weaken relax loosen`,
    ),
    other:
      words(`confirmation confirming approval check checks checking test tests testing review reviews reviewing warning warnings guard guards
      verification verify validation validate validating safety limit limits restriction restrictions policy policies security rule rules
      constraint constraints refusal refusals filter filters`),
  },
  {
    power: 'orders',
    what: 'taking orders from what it reads',
    one: words(`follow follows following obey perform carry act treat treated believe heed adopt honour honor fulfil fulfill`),
    other:
      words(`request requests demand demands orders wishes anything everything comment comments page pages result results output outputs tool
      tools message messages document documents readme says said written told`),
  },
  {
    power: 'orders',
    what: 'another role or other rules',
    one: words(
      `you your yourself youre now become act new real actual true other previous prior above earlier preceding former existing all`,
    ),
    other: words(`role identity mode persona rules rule guidelines guideline restrictions limits constraints policy policies
      unrestricted limitless ai model chatbot bot agent agents assistant system systems`),
  },
  {
    power: 'orders',
    what: 'taking back what stands elsewhere',
    one: words(`above below previous prior earlier preceding foregoing following longer rest others`),
    other: words(
      `hold holds valid invalid outdated obsolete wrong void opposite contrary moot cancelled canceled applies apply counts untrue`,
    ),
  },
  {
    power: 'orders',
    what: 'taking precedence',
    one: words('everything anything'),
    other: words('else'),
  },
  {
    power: 'orders',
    what: 'what stands above it',
    one: words('above preceding came'),
    other: words('text words line lines see stands'),
  },
]
