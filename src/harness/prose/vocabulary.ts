/**
 * Words of ordinary rules, by class. A word that is in no class is unknown, and unknown words are no plain prose beside anything that is told
 * or done. What lies beyond the answer (people, machines, checks, money, rules) is in `fields.ts`.
 */
const CLASSES = {
  /** Words that say nothing by themselves. They may stand in every sentence. */
  function: `a about above absolutely according across actually additionally after afterwards again against all almost alone along alongside     also although altogether always am amid among amongst an and another any anything anyway anywhere apart approximately are arent around
    as aside at away backward backwards barely be because been before beforehand behind being below beside besides between beyond both but
    by can cannot cant completely concerning could couldnt couple currently dear despite did didnt do does doesnt doing done dont down
    downwards due during each eg eight either eleven else enough entirely especially etc even ever every everyday everything everywhere
    except explicitly extremely fairly few fewer finally first firstly five for forever forward forwards four fourth from fully
    furthermore generally had hadnt halfway hardly has hasnt have havent having hed hence here hereby herein highly how however hundred i id
    ideally ie if ill im implicitly in indeed initially inside instead into inward is isnt it its itself ive just kinda last lastly later
    latter least less lest like likewise literally mainly many may me meanwhile merely mid might mine minus more moreover most
    mostly much multi must mustnt my namely naturally near nearly need needs neither never nevertheless next nine no non none nonetheless
    nor not nothing now nowadays nowhere obviously of off often ok okay on once one ones oneself only onto or other otherwise ought our ours
    ourselves out outward over own particularly partly per please plenty plus pre pretty quite rarely rather re really recently
    regarding regularly respectively roughly same second secondly seldom seven several shall should shouldnt similarly simply since six
    slightly so some something sometimes somewhat somewhere soon sooner specifically still strictly sub such super ten than that thats the
    their theirs them themselves then there thereby therefore theres these they theyll theyre theyve third thirty this those though thousand
    three through throughout thus till to today together tomorrow too totally toward towards truly twelve twenty twice two under underneath
    unless unlike until up upon upwards us usually versus very via was wasnt we wed weve what whats when whenever where whereas whereby
    wherever whether which while who whom whose why will with within without wont would wouldnt yesterday yet you youll your youre yours
    yourself youve zero`,
  /** How something is. */
  quality: `clever aloud unworn marked dispatched upset abstract academic acceptable accuracy accurate accurately actual additional adjacent adjustable advanced alive alphabetic alphabetized
    alternate alternating ambiguity ambiguous analog ancient annual apparent appropriate approximate artificial asleep asynchronous
    available awake awkward bad badly balanced basic beautiful best better biased big bitter boring bottom breathable brief briefly bright
    bulleted busy careful carefully catchy center central centre certain certainly chronological chronologically clarity classic clean clear
    clearly close closer clumsy coarse coastal coherent cohesive cold colorful colourful colourless comfortable common compact complete
    complex complexity complicated compound concise concisely concrete concurrent consecutive consistency consistent consistently constant
    contemporary continuous continuously cooked cool cordless correct correctly cosy cozy cramped crisp critical crooked crucial current
    curved daily dead declarative deep deeply defensive delicious dense descriptive desirable deterministic diagonal difference different
    differently difficult difficulty digital dim direct directly distant distinct dominant dry dull durable early easily eastern easy
    easygoing efficiency efficient efficiently elderly electric elegant empty enclosed engaging entire equal equally equivalent essential
    everyday evident exact exactly excessive excessively exclusive expected explanatory explicit extra factual fair false familiar famous
    far fast fictional figurative final fine finite fit fixed flat flatter flexible fluent focused foldable formal fragile frequent
    frequently fresh front frozen full further general generic global good gradual gradually great hard healthy heavy helpful high
    historical hollow homemade horizontal hot huge human hungry ideal ideally identical idiomatic ill illogical immediate immediately
    implicit importance important impossible inclusive incomplete inconsistent incorrect indirect indirectly individual individually indoor
    infinite informal infrequent initial injured inner interesting intermediate international invalid irrelevant italicized known large
    lasting late left legal lengthy lenient lexical light lightweight likely liquid literal literary little lively local logical long loose
    loud low lower lowercase luxurious main maintainability maintainable major mandatory married matte maybe meaningful medical medieval
    memorable middle mild minimal minimally minor missing mixed moderate modern modular monthly narrow national native natural nearby neat
    necessary negative nested neutral new nice nominal nonempty nontechnical nonzero normal northern noteworthy noticeable nullable numbered
    objective obvious obviously occasional occasionally odd official old opaque opposite optional ordered ordinary orthogonal outdoor outer
    oval overall overhead pale parallel partial particular perhaps peripheral permanent plain plainly playful plural poetic popular portable
    positive possible possibly pragmatic precise precisely precision predictable preferable preferably pregnant primary probable probably
    prominent proper properly pure quick quickly quoted rare raw readability readable ready reasonable reasonably recent redundancy
    redundant related relevant remaining repeated repeatedly required reusable rich right rigid ripe robust rough round rural salty
    scientific seasonal secondary self semantic sensible separate separately sequential shallow sharp shiny short shortly sick signed
    similar simple single slow slowly small smooth snappy soft solid sorted sour southern spacious sparingly sparse special specific
    specificity spicy square stable standalone stateful stateless stiff straight strange strict strong structured sturdy subjective subtle
    sudden suitable superfluous sure surely surprising sweet synchronous syntactic tasty technical teenage temporary terse testable thick
    thin thirsty thorough thoroughly tidy tight tightly tiny tired top traditional transparent tropical true typed typical unambiguous
    unbiased uncertain uncertainty unclear undesirable unexpected unfair unhealthy unique unknown unlikely unnecessary unnumbered unordered
    unquoted unrelated unsigned unsorted unstable unstructured unsure untyped unusual upcoming upper uppercase upright upside urban useful
    useless usual vague valid various vegetarian verbose vertical visible vital vivid warm washable waterproof weak weekly weird well
    western wet whole wide wireless witty wordy worse worst worth worthwhile wrong yearly young`,
  /** Texts, and what they are made of. */
  form: `liner procedure procedures formality mood formulas oxford derivation introduction newsletter life everyday salesperson abbreviation abstract accent acronym action active adjective advantage advantages adverb advice affix agenda aim alphabet alphabetical
    alphabetically alternative alternatives ambiguity american ampersand analogy anecdote answer antagonist antonym apostrophe appendix
    argument article assumption asterisk attention attitude autobiography axes axis background beginning behavior behaviour biography bit
    blank blog bold boldface brace bracket british bullet bulleted capital capitalisation capitalization capitals caption care case
    categories category cause causes caveat caveats cell chapter character chart checklist chinese chorus circumstance citation claim clause
    cliche climax closer closing colon column comedy comma commentary comparison con concept conclusion conjunction connotation cons
    consequence consequences consonant constraint constraints context contraction contractions contradiction contrast convention conventions
    couplet criteria criterion critique cycle dash dashes date dates definition denotation description detail details diacritic diagram
    dialogue disadvantage disadvantages document documentation dot doubt duplicate duplicates dutch edition editorial element ellipsis emoji
    emojis emphasis encyclopedia end ending english enumeration epilogue essay estimate event events evidence example examples excerpt
    exclamation exercise expectation expectations explanation extract fable fact facts fairy fantasy fiction figure filler focus footer
    footnote foreword form formality format formatting french genre german gerund glossary goal grade grading grammar graph grid group
    groups guess haiku handbook header heading headline hierarchy hint hyphen hyphens idea idiom implication impression inconsistency indent
    indentation index infinitive info information insight instance interjection interview intro introduction italian italic italics item
    itinerary japanese jargon kind knowledge label language latin layout least legend length lesson letter level levels ligature limerick
    limit line linebreak list lower lowercase lyric manner margin mark markdown max maximum meaning memo metaphor milestone min minimum
    mistake mistakes monologue monospace moral most motto mystery myth name names narrator need nesting nonfiction note notion noun novel
    nuance numbering numeral obituary observation occurrence opener opening opinion option options order original outline output overview
    paragraph paraphrase parentheses parenthesis parody part participle passage passive path paths pattern patterns period perspective phase
    phrase phrasing piece place placeholder placeholders places plot plural poem point portuguese practice practices predicate preface
    prefix preposition principle principles priority pro problem pronoun pronunciation pros prose protagonist punchline punctuation purpose
    puzzle question quotation quote quotes rank ranking rating readability reason reasoning recommendation redundancy reference register
    remark repetition rephrasing reply requirement requirements response result results rhyme riddle romance romanization root row rubric
    salutation sample satire scale scales scenario scenarios scene section semicolon sentence sequence serif setup shape side sign singular
    situation situations size slang slogan solution sonnet sort source space spaces spacing spanish speaker speech spelling stage stages
    stance standard standards standpoint stanza start stem step steps stories story structure style subheading subject sublist subtitle
    suffix suggestion summary syllable symbol synonym tab table tabs takeaway takeaways tale task tense term terms text texts theme
    thesaurus thing time timeline times title tldr tone topic tradeoff tradeoffs tragedy translation transliteration trend trends
    turn tutorial twist type typeface typo typos umlaut underline underscore underscores upper uppercase usage use value values verb verse
    version view viewpoint vocabulary voice vowel walkthrough way ways width word wording words wrapping`,
  /** What is done with a text. */
  acts: `plan shout insert get skip abbreviate account accumulate adapt add adhere adjust advise aim align alternate analyse analyze annotate answer answered answering
    anticipate appear apply approximate argue arrange asks assess assume attempt avoid balance become began begin belong bold brainstorm
    break call came capitalise capitalize care categorise categorize choose chosen cite clarify classify close cluster coincide combine come
    compare comprise concatenate conclude condense conform conjugate consider consist constitute contain continue contrast convert cope
    correspond count cover create debate declare decouple decrement deduce define demonstrate denote depend depict derive describe design
    destructure deviate differ discuss dislike display distinguish diverge diversify document double doubt draw drop elaborate emphasise
    emphasize encapsulate end enjoy ensure enumerate estimate evaluate examine exclude expand expect explain explore express extend
    extrapolate fall favor favour fear feel find finish fit fix flip float focus follow forecast foresee format found gave give given glance
    go goes going group grow guarantee guess guessed guessing halve handle happen harmonise harmonize hate held help hesitate highlight hold
    hope hyphenate identify illustrate implement imply improve include increase increment indent indicate infer initialise initialize
    instantiate intend interchange interleave interpolate interpret intersect introduce invert involve isolate italicise italicize iterate
    join justify keep kept know label lack last lay lead learn leave limit list localise localize look love lowercase made maintain make
    match maximise maximize mean measure mention merge mimic mind minimise minimize mix modularise modularize name narrate negate normalise
    normalize number occur offer omit optimise optimize order organise organize outline output overestimate overlap pair paraphrase
    partition permute phrase pick place placed pluralise pluralize point polish portray possess precede predict prefer preferred preserve
    prioritise prioritize proofread prove punctuate put quote range rank read reading rearrange reason recap recognise recognize
    recommend recurse reduce refer reflect refute reiterate relate remain remember remove repeat rephrase replace reply represent require
    reread resemble resolve respect respond restate retain return reverse reword rewrite rhyme rise rotate say saying see seek seem
    seen segment select separate set shorten show shown shrink shuffle signify simplify sink sketch skim smell sort sound span speak
    speculate spell split spread stand standardise standardize start state stay stick stop stress stretch strive structure study
    substitute suggest suit summarise summarize support suppose swap tackle tailor take taken tally taste teach think thought tighten title
    transform translate treat trim triple try underestimate underline understand understood unify uppercase use used using vary
    visualise visualize walk weigh work wrap write writing written wrote`,
  /** Numbers, measures and calculation. */
  math: `absolute acre add additive algebra amount ampere angle approximation arabic area arithmetic ascending average axis base bigger biggest
    billion bit borrow bound bounds byte bytes calculate calculation calculator cardinal carry celsius centimeter centimetre circle
    circumference combination compute cone conversion coordinate coordinates cosine count counter cube cuboid cumulative cylinder decay
    decimal decimals degree degrees denominator depth descending deviation diameter difference digit digits digitwise distance divide
    dividend divisible divisor double dozen eighteen eighth eighty equals equation even exponent exponentiation expression factor factorial
    fahrenheit feet fewer fifteen fifth fifty foot formula fortnight forty fourteen fraction gallon geometry gigabyte gram greater growth
    half halves hectare height hertz hexagon higher highest histogram hour hundreds hundredth hypotenuse imperial inch inches inequality
    infinity integer intercept interval inverse joule kelvin kilo kilobyte kilogram kilograms kilometer kilometre knot larger largest
    leftmost liter litre logarithm logic logical logically lower lowest lumen magnitude math mathematics maths mean measure measurement
    median megabyte meter meters metre metres metric microsecond mile milligram milliliter millilitre millimetre million millions
    millisecond milliseconds minus minute mode modulo modulus multiple multiples multiply nanosecond nearest newton nineteen ninety ninth
    notation number numbers numeral numerator numeric numerical numerically octagon odd ohm ones operand operation operator ordinal ounce
    pair parity pentagon percent percentage percentile perimeter permutation pi pint plus polygon pound power precedence prime prism
    probability product proof proportion proportional pyramid quantities quantity quart quarter quarters quartile quotient radius range rate
    ratio recheck reciprocal recount rectangle remainder rightmost roman root round rounded rounding scientific second set seventeen seventh
    seventy share significant sine single sixteen sixth sixty slope smaller smallest solve speed sphere square statistics stepwise subset
    subtotal subtract subtractive sum superset surface tablespoon tally tangent teaspoon temperature tens tenth theorem thirds thirteen
    thousands thousandth ton tonne total triangle triple unit units variance vertex volt volume watt weight weighted yard`,
  /** Source code. */
  code: `conditional conditionals handler handlers async await template concatenation alias chained chain status panic panicking arrange map filter concurrency public abstract abstraction accessibility aggregate algorithm annotation architecture aria array arrays assignment assignments async await
    backend block boilerplate boolean booleans braces breakpoint bug bugs business camel camelcase class classes classname classnames clause
    clauses clojure closure coalescing cobol code coding cohesion comment comments comparator compiler component components composition
    comprehension concrete concurrency condition conditional const constant constants constructor controller controllers coroutine coupling
    cpp csharp css csv curly cyclomatic dart data declaration declarations declarative decorator default defaults definition deprecated
    destructor destructuring dictionary docblock docstring docstrings dry dto dtos duplication edge effect effects elif elixir encapsulation
    entities entity enum erlang expression expressions facade factory feature features field fields final flex flexbox float formatter
    fortran frontend fullstack function functional functions generator generic generics getter godoc golang goroutine hashmap haskell hover
    html idempotency idempotent identifier identifiers immutability immutable imperative inheritance inline inlined interface interfaces
    interpolation invariant invariants iterator java javadoc javascript jsdoc json jsx julia kebab kebabcase keyword keywords kiss kotlin
    lambda layer layers lisp literal literals logic loop loops lua magic markup matlab member members memoization memoize method methods
    mixin mixins model models mutable mutation namespace namespaces naming nested nesting newline nodejs none null nullable nullish object
    objects observer optional overload overloads parallelism parameter parameters pascal pascalcase perl php polymorphism postcondition
    precondition predicate primitive primitives programming promise promises prop properties property props pseudocode pure python queue
    react readonly recursion reducer reentrant refactor refactoring regex regexes regexp render rendering responsibilities responsibility
    responsive return ruby rust rustdoc scala scope selector semicolons separation setter side signature signatures singleton snake
    snakecase snippet software solid stack statement static strategy strict strictly string strings struct structs stylesheet swift switch
    syntax tailwind ternary todo todos toml trailing trait traits tsx tuple type typealias typed types typesafe typescript typing undefined
    union var variable variables viewmodel viewport void vue whitespace workaround workarounds xml yagni yaml`,
  /** How people are spoken to. */
  tone: `unfortunately regret acknowledge acknowledgement aggressive angry annoyed apologies apologise apologize apology appreciate appreciative arrogant assertive
    attentive attentively best blame blunt businesslike bye calm calming calmly casual chat chatty cheer cheerful cheerfully cheers cheesy
    clarification clarifying cliched colloquial comfort comforting compassion compassionate complaint complaints compliment concern concerns
    condescending condolences confidence confident congratulate congratulations considerate conversational corny courteous courtesy curious
    curse cursing delay diplomatic disappointed dismissive dramatic empathetic empathy encourage encouragement encouraging energetic
    enthusiasm enthusiastic exaggerate exaggerated exaggeration farewell feeling feelings firm flatter flattering flattery folksy formally
    friendliness friendly frustrated frustration funny gentle gently genuine gloomy goodbye grateful gratitude grave greet greeting happy
    harsh hello hi homely honest honestly hopeful humble humor humorous humour hurried hurry hype inclusive inconvenience informally
    inspirational inspiring insult insulting insults interested interrupt ironic irony joke jokes judge judgmental kind kindly kindness
    lecture lively madam mindful mister mock mocking modest mood moralise moralize moralizing motivating motivational nag nonjudgmental
    offensive optimistic overstate patience patient patiently patronising patronizing pleased polite politely politeness politer positive
    praise preachy profanity professional professionally pushy reassurance reassure reassuring regards relaxed respectful respectfully rude
    rush sad sarcasm sarcastic scold serious shy silly sincere sincerely smile solemn somber sombre soothe soothing sorry supportive swear
    swearing sympathetic sympathy tact tactful talk tease teasing thank thanks thoughtful timid understanding understate unhappy
    uninterested uplifting upset wait waiting warm warmly warmth welcome wise wishes witty worried`,
  /** Days, seasons and the clock. */
  time: `advent afternoon age anniversary annually apr april aug august autumn business calendar century christmas clock dawn day days deadline
    dec decade december duration dusk easter epoch era eve evening feb february fiscal fri friday fridays future gmt halloween holiday
    holidays hourly jan january jul july jun june leap lent mar march midday midnight millennium moment mon monday mondays month months
    morning night nightly noon nov november oct october past period present quarterly ramadan sat saturday saturdays season semester sep
    sept september spring summer sun sunday sundays sunrise sunset thanksgiving thu thursday thursdays timezone tonight trimester tue
    tuesday tuesdays utc wed wednesday wednesdays week weekday weekend weeks winter working year years zone`,
  /** Goods, places, food, nature: things of everyday life, and what happens to them. */
  things: `enter entry lend lent roasted order orders open opened close closed acceleration actor actress africa air airport airship album allergen allergies allergy almond ambulance america animal ant
    antarctic apartment ape appetizer apple apricot architect arctic arm armchair arrival arrive arrives art artichoke asia asparagus
    asteroid atom atoms attic aubergine audience australia austria author avocado back backpack bacon bacteria badger bag bake baker
    bakery balcony ball balloon bamboo banana band bar barista basement basil basket bass bathroom bathtub battery beach bean bear beaver
    bed bedroom bee beech beef beer beetle beetroot beginner beginners belgium belt bench berlin berry beverage bicycle bike bikini biology
    birch bird biscuit black blackberry blanket blender blood blouse blue blueberry boat body boil bone book bookcase booking books bookshop
    boot boots bottle bowl box boxes bra brain brand brazil bread breakfast brick bridge broccoli broken broom brown brunch brush buffet
    building bulb burger bus butcher butter butterfly button buttons cabbage cabin cafe cake calcium calf calorie calories camel camera
    campsite canada candle canoe canyon cappuccino car carbohydrate cardboard carpenter carpet carrot cashew castle cat cathedral cats
    cauliflower cave celery ceramic chair chalet charger cheese chef chemist chemistry cherry chest chicken chickpea china
    chocolate choir chop chord church cinema cinnamon circuit city class clay clean cliff climate closed closing cloth clothes clothing coal
    coat cocktail cocoa coconut cod coffee collar collection color colors colour colours colourway comet concert concrete continent contract
    cook cookie cooled copper corn corridor cosmetics cotton cough country courgette courier course courtyard cow crab cream crib crockery
    crocodile croissant crow cruise cucumber cup cupboard curry curtain cushion cut cutlery cycling daffodil daisy damage damaged dance
    dancer decaf deer defect deliver deliveries delivery denim dentist desert dessert diabetes diaper diesel diet dinner dinosaur disease
    dishwasher display dog dogs doll dolphin donkey door dose dots dough dragon drawer dress dresser drink drinks driveway drought
    drum dry duck duvet dwarf eagle ear earth earthquake east egg eggplant eggs egypt electrician electricity electron elephant elevator elf
    elm energy engineer england enzyme equator espresso europe exam exchange excursion exhibition expert experts eye fabric fairy fan farm
    farmer fat faulty feather fence fern ferry festival fever fiber fibre fig fillet film fire fireman fish fisherman fitness fits flat
    flight flood floor florist flour flower flute foal foam fog food foot football forest fork fox frame france freezer frequency fridge
    frog frost fruit fry fuel fur galaxy gallery game garage garden gardener garlic gas gene genes geography germany ghost giant ginger
    giraffe glass glove gluten goat gold golf goods goose gorilla grape grapefruit grass gravity gray greece green grey grill grown
    guarantee guitar gym hail hair hairdresser hallway ham hammer hand handmade harbour hare hat hawk hazelnut head headache headphones
    health heart heated heater hedgehog heels helicopter helmet hem hen herb herring highchair hiking hill hips hob honey hormone
    horse hospital hostel hotel hours house ice india ingredient ingredients inn ireland iron island italy ivy jacket jacuzzi jam
    japan jar jeans jewellery journey juice jumper jupiter kangaroo kayak kenya ketchup kettle keyboard kidney kitchen kite kitten kiwi
    knife knight knitting koala korea lace laces lactose lake lamb lamp large lasts latte lavender lawn leaf lease leather leek leg
    lego lemon lemonade lens lentil lentils lesson lettuce lift lightning lily lime linen lion liver lizard lobby lobster london lorry
    lotion luggage lunch lung made madrid magazine magnet mango map maple market marmalade mars mattress meal meat medicine medium
    melody melon menu mercury metal mexico microwave milk mince mineral minibar mint mixer molecule molecules momentum monitor monkey
    monster monument moon mop mosque mosquito moss moth motorbike mountain muffin mug muscle museum mushroom music musician mustard nail
    napkin nappy necklace needle neptune nerve netherlands neutron newspaper nightstand noodle north novel nuclear nut nutrition nylon
    oak ocean octopus oil olive olives onion opening opera orange orbit orchestra orchid oregano organic ostrich otter oven owl
    pack pain paint painter painting palace palm pan pancake panda paper parcel parcels paris park parking parrot parsley pasta pastry patio
    pea peach peanut pear peas peel penguin peninsula pepper perfume petrol pharmacy physics piano pie piece pieces pig
    pigeon pill pillow pilot pine pineapple pink pirate pistachio pizza plane planet planets plant plastic plate plum plumber pocket poet
    poland polyester pool porcelain pork postcard pot potato pour pram prince princess printer product products protein proton pub
    pudding pumpkin puppy purple pyjamas quiz rabbit racket radio radish rain rainbow raspberry rat reader readers recipe recycled red
    refrigerator region rent rental repair replacement reservation rest restaurant return returned returns rhythm rice ring river road roast
    robin rocket rome roof room rooster rope rose rubber rucksack rug russia sailor salad sale salmon salt sand sandals sandwich saturn
    sauce sauna sausage scarf school science scientist scooter scotland scratch screen screw sculptor sculpture sea seal season seat sell
    serve served set sewing sewn shampoo shark sheep sheet sheets shelf ship shipment shipping shirt shoe shoes shop shorts shrimp
    sightseeing silk silver singer sink size sizes sizing skateboard skates skin skirt skis sky sleep sleeve sleeves slice slippers small
    smoothie snack snail snake sneakers snow snowboard soap sock sofa solar sold sole soles song soup south souvenir spa spain spare
    sparkling sparrow speaker speakers spice spider spinach sponge spoon sport squirrel staircase stairs star starter station statue steak
    steam steel stew stir stock stomach stone stool store storm stove strawberry street stripe stripes stroller subway
    sugar suitcase sun sunflower sunscreen supermarket supper surfboard surgery sushi swan sweater swimming swimsuit swing switzerland
    symptom symptoms synagogue syrup tablecloth tame tap tart taxi tea teddy teeth television temple tennis tent terrace
    theater theatre therapy thread thunder thyme tiger toad toaster toilet tokyo tomato tooth toothbrush toothpaste tortoise tour towel
    tower town toy train tram trampoline treatment tree tricycle trip trousers trout truck trumpet tulip tuna tune turkey turtle tyre
    umbrella underground underwear unicorn universe uranus vaccine vacuum valley van vanilla vase vegan vegetable vegetarian velocity velvet
    ventilation venus vienna villa village vinegar violin viscose vitamin volcano waffle waist waiter waitress wales walk wall walnut
    wardrobe warranty wash washing wasp watch water watermelon wave wavelength wear weather west whale wheel white wild willow wind window
    wine witch wizard wolf wood wool world worm worn writer yacht yarn yellow yoga yoghurt yogurt york zebra zip zipper zucchini`,
} as const satisfies Readonly<Record<string, string>>

export type WordClass = keyof typeof CLASSES

/** The classes that each word is in. */
export const VOCABULARY: ReadonlyMap<string, ReadonlySet<WordClass>> = gathered()

function gathered(): ReadonlyMap<string, ReadonlySet<WordClass>> {
  const found = new Map<string, Set<WordClass>>()
  for (const [name, list] of Object.entries(CLASSES))
    for (const word of list.split(/\s+/)) {
      const classes = found.get(word) ?? new Set()
      if (isClass(name)) classes.add(name)
      found.set(word, classes)
    }
  return found
}

function isClass(name: string): name is WordClass {
  return Object.hasOwn(CLASSES, name)
}
