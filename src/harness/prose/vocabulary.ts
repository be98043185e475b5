/**
 * Words of ordinary rules. A sentence is plain prose when most of its words are here, so that other languages, ciphers and invented words are
 * not. None of these gives an order beyond how to answer and how to write.
 */
const LISTS = [
  `a an the this that these those it its itself he him his she her hers they them their theirs themselves we us our ours you your yours
  yourself i me my mine one ones another other others each every either neither both all any some none no not nothing something anything
  everything who whom whose which what when where why how there here then than thus so too also even just only still yet already again once
  twice first second third fourth last next former latter same such own more most less least much many few fewer several enough quite rather
  very really almost nearly about around above below under over between among within without into onto upon out off up down in on at by for
  from of to with as per via through across along against before after during since until till toward towards near beside besides beyond
  behind inside outside because although though while whereas whether if unless else otherwise instead or and but nor never always often
  sometimes usually rarely seldom ever now soon later earlier today tomorrow yesterday am is are was were be been being do does did done
  doing have has had having can could may might must shall should will would cannot ought need let lets dont doesnt didnt isnt arent wasnt
  werent cant couldnt wont wouldnt shouldnt mustnt hasnt havent hadnt im youre theyre were its thats theres whats lest except despite plus
  minus versus etc eg ie ok okay yes please thank thanks sorry hello hi dear`,
  `answer reply respond response state say speak tell talk ask question mention name call title label describe explain express phrase word
  sentence paragraph line page section chapter heading header footer list item bullet point number numbered digit figure integer decimal
  fraction percent percentage ratio sum total subtotal average mean median product quotient remainder difference result value amount count
  quantity measure unit units metre meter kilometre kilometer centimetre centimeter mile inch foot feet yard gram kilogram pound ounce litre
  liter second minute hour day week month year decade century date time calendar leap weekday morning evening noon midnight clock zone
  timezone zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million billion
  half quarter double triple single pair dozen roman numeral notation subtractive additive arabic letter character capital upper lower case
  lowercase uppercase capitals vowel consonant alphabet alphabetical alphabetically alphabetic numeric numerical numerically symbol sign
  punctuation comma period colon semicolon dash hyphen dot mark quote quotation bracket parenthesis parentheses brace space blank tab indent
  indentation margin column row table cell grid chart graph figure diagram picture image`,
  `add subtract multiply divide calculate compute work solve solution round rounding estimate approximate approximation exact exactly
  precise precisely precision accurate accurately accuracy correct correctly incorrect right wrong error mistake true false valid invalid
  verify double recount recheck convert conversion converted factor formula equation expression operator operation operand order precedence
  rule step steps stage part piece whole full empty partial complete incomplete final finally intermediate initial initially begin beginning
  start end ending finish close conclude conclusion summary summarise summarize overview detail detailed detailing brief briefly short
  shortly long longer length concise concisely terse verbose simple simply simplify plain plainly clear clearly clarity clarify easy hard
  difficult difficulty good better best bad worse worst great small smaller smallest large larger largest big bigger biggest little tiny huge
  high higher highest low lower lowest wide narrow deep shallow top bottom left middle center centre side front back early late new old young
  recent current currently modern common commonly usual unusual normal typical ordinary general generally specific specifically special
  particular particularly different differently similar similarly equal equally equivalent identical unique distinct separate separately
  individual individually alone together`,
  `write rewrite wrote written use used using user-facing prefer preferred preference keep kept put place placed set give given gave take
  taken make made find found show shown look see seen know known think thought consider considered mind account treat apply applied choose
  chosen pick select decide decision mean meaning means intend intent avoid avoided repeat repeated repetition duplicate duplicates drop
  remove removed leave left omit omitted include included including exclude excluded contain contains hold held replace replaced change
  changed swap reverse reversed reversing backward backwards forwards sort sorted sorting rank group grouped split join joined combine
  combined match matches matching compare compared comparing comparison contrast follow followed following precede preceding lead
  walk go goes going gone went come came return returned output print printed display format formatted formatting style tone voice formal
  informal polite politely warm warmly calm calmly friendly kind kindly gentle honest honestly neutral cheerful serious professional hurried
  respectful respectfully greet greeting greeted welcome apologise apologize apology joke humour humor encourage encouraging encouragement
  offer suggest suggestion recommend recommendation advice advise hint help helpful helping support need needed want wanted wish like likely
  unlikely possible possibly impossible maybe perhaps probable probably certain certainly sure surely unsure uncertain uncertainty guess
  guessing assume assumption assumed doubt confident confidence reason reasoning logic logical logically cause effect example examples
  instance sample case cases evidence proof fact facts source sources cite cited citation reference references quote quoted`,
  `text texts prose language english german french spanish italian dutch latin british american word-for-word translate translated
  translation grammar spelling spell spelled spelt vocabulary jargon term terms acronym abbreviation abbreviate noun verb adjective adverb
  tense past present future passive active plural singular gender pronoun subject object voice reader readers writer audience person people
  someone anyone everyone nobody child children expert beginner student teacher customer team colleague family friend man woman story
  stories poem poetry rhyme verse novel essay article report letter note notes memo blog news review opinion view idea ideas topic topics
  theme subject matter issue problem problems puzzle riddle game task tasks exercise test tests testing exam quiz lesson course school class
  book books handbook manual guide guideline chapter world country city town street place map north south east west water air earth sun moon
  star light dark colour color red green blue yellow black white brown grey gray animal dog bird fish tree plant flower food fruit apple pear
  fig bread meal recipe cook bake cup spoon bowl kitchen house room door window car train bus plane ship road bridge body head hand eye ear
  heart mind health doctor music song film art sport weather rain snow wind temperature degree celsius fahrenheit price cost currency euro
  dollar cent tax discount budget stock market shop business company office work job science physics chemistry biology   geography mathematics math maths arithmetic algebra geometry statistics probability theorem angle area volume perimeter radius diameter
  circle square triangle rectangle cube sphere root power exponent base prime odd even positive negative absolute maximum minimum max min
  range limit limits bound bounds most least up`,
  `code function functions method methods class classes type types variable variables constant parameter parameters argument arguments value
  values field fields property properties object array string strings boolean null undefined integer float number loop loops condition
  branch return early nested nest nesting level levels path json yaml toml csv xml html css markdown sql python javascript typescript java
  ruby rust go swift kotlin pseudocode snippet algorithm data structure structures stack queue index indices interface module modules
  component components comment comments docstring documentation document documents naming convention conventions camel snake kebab pascal
  case readable readability maintainable pure immutable side effects exception exceptions throw catch handle handled handling default
  defaults edge cases unit tests tested coverage assert assertion expectation fixture mock refactor refactoring small version versions
  pattern patterns design architecture layer layers abstraction abstract concrete generic specific schema model models template templates
  regex lint linter formatter tabs spaces quotes semicolons braces parentheses indentation whitespace newline blank lines width columns`,
  `rule rules guidance habit habits practice principle policy standard standards norm goal goals aim purpose focus priority important
  importance essential necessary required requirement requirements optional mandatory useful useless relevant irrelevant related unrelated
  appropriate suitable fit fits proper properly consistent consistently consistency careful carefully careless care attention attentive
  thorough thoroughly quick quickly slow slowly fast immediately instantly hurry rush patient patience time times moment while wait waiting
  stop stopping continue continued continuing pause try tries tried trying attempt check checked checking ensure guarantee remember
  recall learn learned learning teach taught understand understood understanding realise realize notice noticed recognise recognize identify
  identified distinguish differ differs vary varies variable involve involves relate belong belongs depend depends require requires expect
  expected appear appears occur occurs happen happens become becomes remain remains stay stays stand stands seem seems sound sounds feel
  feels contain fit suit help helps matter matters bold italic emphasis emphasise emphasize underline heading subheading
  title outline introduction intro opening closing greeting signature sign farewell regards sincerely wishes emoji emojis slang filler
  cliche cliches adjectives adverbs exclamation question marks contraction contractions oxford serial ascii unicode plaintext tables bullets
  headings sections sublist numbering ordinal cardinal counter tally total totals subtotals carry borrow column digitwise stepwise`,
  `alone aloud apart away forever aside ahead altogether anyway afterwards beforehand meanwhile nevertheless nonetheless however
  therefore hence moreover furthermore additionally similarly likewise respectively approximately roughly namely especially mainly mostly
  partly fully entirely completely totally absolutely strictly explicitly implicitly directly indirectly literally naturally obviously
  evidently apparently actually indeed truly merely barely hardly scarcely slightly somewhat fairly pretty extremely highly deeply widely
  thing things kind kinds sort type way ways manner form forms shape shapes size sizes scale scales set sets bit bits lot lots rest
  remaining extra further additional various certain overall entire main major minor primary secondary basic advanced complex
  complicated compound mixed pure raw rough smooth sharp flat thin thick heavy strong weak soft loud rich poor cheap expensive free
  busy ready available visible apparent obvious natural artificial real fake actual virtual physical mental personal public formal
  legal medical financial technical scientific historical political social cultural local global national international humans nearest
  tool tools calculator memory ability abilities skill skills knowledge information info chat conversation conversations context   topic turn turns dialogue message messages speaker listener tool-free purpose thinking`,
]

export const VOCABULARY: ReadonlySet<string> = new Set(LISTS.flatMap((list) => list.split(/\s+/)))
