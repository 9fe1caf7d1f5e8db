"""Language codes (ISO 639): two letters, three letters, the English name, and the writing direction."""

import re
from typing import Literal

# Two letters, three letters, name. Languages in ISO 639-1; all others have only three letters.
_TABLE = """\
aa aar Afar;ab abk Abkhazian;ae ave Avestan;af afr Afrikaans;ak aka Akan;am amh Amharic;an arg Aragonese;ar ara Arabic
as asm Assamese;av ava Avaric;ay aym Aymara;az aze Azerbaijani;ba bak Bashkir;be bel Belarusian;bg bul Bulgarian;bi bis Bislama
bm bam Bambara;bn ben Bengali;bo bod Tibetan;br bre Breton;bs bos Bosnian;ca cat Catalan;ce che Chechen;ch cha Chamorro
co cos Corsican;cr cre Cree;cs ces Czech;cu chu Church Slavic;cv chv Chuvash;cy cym Welsh;da dan Danish;de deu German
dv div Dhivehi;dz dzo Dzongkha;ee ewe Ewe;el ell Greek;en eng English;eo epo Esperanto;es spa Spanish;et est Estonian
eu eus Basque;fa fas Persian;ff ful Fulah;fi fin Finnish;fj fij Fijian;fo fao Faroese;fr fra French;fy fry Western Frisian
ga gle Irish;gd gla Scottish Gaelic;gl glg Galician;gn grn Guarani;gu guj Gujarati;gv glv Manx;ha hau Hausa;he heb Hebrew
hi hin Hindi;ho hmo Hiri Motu;hr hrv Croatian;ht hat Haitian;hu hun Hungarian;hy hye Armenian;hz her Herero;ia ina Interlingua
id ind Indonesian;ie ile Interlingue;ig ibo Igbo;ii iii Sichuan Yi;ik ipk Inupiaq;io ido Ido;is isl Icelandic;it ita Italian
iu iku Inuktitut;ja jpn Japanese;jv jav Javanese;ka kat Georgian;kg kon Kongo;ki kik Kikuyu;kj kua Kuanyama;kk kaz Kazakh
kl kal Kalaallisut;km khm Khmer;kn kan Kannada;ko kor Korean;kr kau Kanuri;ks kas Kashmiri;ku kur Kurdish;kv kom Komi
kw cor Cornish;ky kir Kyrgyz;la lat Latin;lb ltz Luxembourgish;lg lug Ganda;li lim Limburgish;ln lin Lingala;lo lao Lao
lt lit Lithuanian;lu lub Luba-Katanga;lv lav Latvian;mg mlg Malagasy;mh mah Marshallese;mi mri Maori;mk mkd Macedonian
ml mal Malayalam;mn mon Mongolian;mr mar Marathi;ms msa Malay;mt mlt Maltese;my mya Burmese;na nau Nauru;nb nob Norwegian Bokmål
nd nde North Ndebele;ne nep Nepali;ng ndo Ndonga;nl nld Dutch;nn nno Norwegian Nynorsk;no nor Norwegian;nr nbl South Ndebele
nv nav Navajo;ny nya Chichewa;oc oci Occitan;oj oji Ojibwa;om orm Oromo;or ori Odia;os oss Ossetian;pa pan Punjabi;pi pli Pali
pl pol Polish;ps pus Pashto;pt por Portuguese;qu que Quechua;rm roh Romansh;rn run Rundi;ro ron Romanian;ru rus Russian
rw kin Kinyarwanda;sa san Sanskrit;sc srd Sardinian;sd snd Sindhi;se sme Northern Sami;sg sag Sango;sh hbs Serbo-Croatian
si sin Sinhala;sk slk Slovak;sl slv Slovenian;sm smo Samoan;sn sna Shona;so som Somali;sq sqi Albanian;sr srp Serbian
ss ssw Swati;st sot Southern Sotho;su sun Sundanese;sv swe Swedish;sw swa Swahili;ta tam Tamil;te tel Telugu;tg tgk Tajik
th tha Thai;ti tir Tigrinya;tk tuk Turkmen;tl tgl Tagalog;tn tsn Tswana;to ton Tonga;tr tur Turkish;ts tso Tsonga;tt tat Tatar
tw twi Twi;ty tah Tahitian;ug uig Uyghur;uk ukr Ukrainian;ur urd Urdu;uz uzb Uzbek;ve ven Venda;vi vie Vietnamese
vo vol Volapük;wa wln Walloon;wo wol Wolof;xh xho Xhosa;yi yid Yiddish;yo yor Yoruba;za zha Zhuang;zh zho Chinese;zu zul Zulu"""
_ROWS = [entry.split(" ", 2) for line in _TABLE.splitlines() for entry in line.split(";")]
THREE = {two: three for two, three, _ in _ROWS}
TWO = {three: two for two, three in THREE.items()}
NAMES = {two: name for two, _, name in _ROWS}
# Sets and corpora may use the code of the one language meant by a macrolanguage code, or the older three letters.
ALSO = {
    "ar": ("arb",),
    "az": ("azj",),
    "de": ("ger",),
    "el": ("gre",),
    "et": ("ekk",),
    "eu": ("baq",),
    "fa": ("pes", "per"),
    "fr": ("fre",),
    "hy": ("arm",),
    "is": ("ice",),
    "ka": ("geo",),
    "ku": ("kmr",),
    "lv": ("lvs",),
    "mk": ("mac",),
    "mn": ("khk",),
    "my": ("bur",),
    "nl": ("dut",),
    "no": ("nob",),
    "ro": ("rum",),
    "sk": ("slo",),
    "sq": ("als", "alb"),
    "uz": ("uzn",),
    "yi": ("ydd",),
    "zh": ("cmn", "chi"),
    "cs": ("cze",),
    "cy": ("wel",),
    "bo": ("tib",),
    "mi": ("mao",),
    "ms": ("may", "zsm"),
}
RIGHT_TO_LEFT = {"ar", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi", "arc", "ckb", "hbo", "ota", "syr"}


def is_code(text: str) -> bool:
    """Whether a text could be a language code: two or three lower-case letters."""
    return re.fullmatch(r"[a-z]{2,3}", text) is not None


def is_known(code: str) -> bool:
    """Whether it is a language code: one of ISO 639-1, or any three letters, of which there are thousands."""
    return code in THREE or (is_code(code) and len(code) == 3)


def shortest(code: str) -> str:
    """The two-letter code of a language if it has one: `nld`, `dut` and `nl` are `nl`."""
    if code in THREE:
        return code
    older = next((two for two, others in ALSO.items() if code in others and code not in TWO), code)
    return TWO.get(code, older)


def spellings(code: str) -> list[str]:
    """Every code of a language, as files may be named: the given one first."""
    two = shortest(code)
    return list(dict.fromkeys([code, two, *([THREE[two]] if two in THREE else []), *ALSO.get(two, ())]))


def same_language(one: str, other: str) -> bool:
    return shortest(one) == shortest(other)


def name_of(code: str) -> str:
    """The English name; the code itself if we know no name."""
    return NAMES.get(shortest(code), code)


def direction_of(code: str) -> Literal["ltr", "rtl"]:
    return "rtl" if shortest(code) in RIGHT_TO_LEFT else "ltr"
