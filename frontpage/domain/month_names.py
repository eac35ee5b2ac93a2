"""Names of months and weekdays in the languages that we read, from Unicode CLDR 47 (made with babel).

With spellings that newspapers use besides (the Maghreb's months, names without diacritics).

Data only. Lower case, without dots; a blank inside a name is an underscore. Names that mean different months in
different languages ("listopad") are told apart in `dates`.
"""

from __future__ import annotations

from typing import Final

from frontpage.domain.wordlists import words

# fmt: off
#: language -> twelve strings of blank-separated names, January first.
MONTHS: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
        "september sep sept", "october oct", "november nov", "december dec",
    ),
    "es": (
        "enero ene", "febrero feb", "marzo mar", "abril abr", "mayo may", "junio jun", "julio jul", "agosto ago",
        "septiembre sept setiembre set", "octubre oct", "noviembre nov", "diciembre dic",
    ),
    "de": (
        "januar jan jänner jaenner jän", "februar feb feber", "märz mär maerz mrz", "april apr", "mai", "juni jun",
        "juli jul", "august aug", "september sept sep", "oktober okt", "november nov", "dezember dez",
    ),
    "fr": (
        "janvier janv", "février févr fevrier fev", "mars", "avril avr", "mai", "juin", "juillet juil", "août aout",
        "septembre sept", "octobre oct", "novembre nov", "décembre déc decembre dec",
    ),
    "pt": (
        "janeiro jan", "fevereiro fev", "março mar marco", "abril abr", "maio mai", "junho jun", "julho jul",
        "agosto ago", "setembro set", "outubro out", "novembro nov", "dezembro dez",
    ),
    "it": (
        "gennaio gen", "febbraio feb", "marzo mar", "aprile apr", "maggio mag", "giugno giu", "luglio lug",
        "agosto ago", "settembre set", "ottobre ott", "novembre nov", "dicembre dic",
    ),
    "ru": (
        "января янв январь", "февраля февр февраль", "марта мар март", "апреля апр апрель", "мая май",
        "июня июн июнь", "июля июл июль", "августа авг август", "сентября сент сентябрь", "октября окт октябрь",
        "ноября нояб ноябрь", "декабря дек декабрь",
    ),
    "uk": (
        "січня січ січень", "лютого лют лютий", "березня бер березень", "квітня квіт квітень", "травня трав травень",
        "червня черв червень", "липня лип липень", "серпня серп серпень", "вересня вер вересень",
        "жовтня жовт жовтень", "листопада лист листопад", "грудня груд грудень",
    ),
    "ar": (
        "يناير كانون_الثاني جانفي", "فبراير شباط فيفري", "مارس آذار", "أبريل نيسان أفريل ابريل", "مايو أيار ماي ايار",
        "يونيو حزيران جوان", "يوليو تموز جويلية", "أغسطس آب أوت اغسطس", "سبتمبر أيلول ايلول",
        "أكتوبر تشرين_الأول اكتوبر", "نوفمبر تشرين_الثاني", "ديسمبر كانون_الأول",
    ),
    "fa": (
        "ژانویه", "فوریه", "مارس", "آوریل", "مه", "ژوئن", "ژوئیه", "اوت", "سپتامبر", "اکتبر", "نوامبر", "دسامبر",
    ),
    "he": (
        "ינואר ינו׳", "פברואר פבר׳", "מרץ", "אפריל אפר׳", "מאי", "יוני", "יולי", "אוגוסט אוג׳", "ספטמבר ספט׳",
        "אוקטובר אוק׳", "נובמבר נוב׳", "דצמבר דצמ׳",
    ),
    "tr": (
        "ocak oca", "şubat şub", "mart mar", "nisan nis", "mayıs may", "haziran haz", "temmuz tem", "ağustos ağu",
        "eylül eyl", "ekim eki", "kasım kas", "aralık ara",
    ),
    "hi": (
        "जनवरी जन॰", "फ़रवरी फ़र॰", "मार्च", "अप्रैल", "मई", "जून", "जुलाई जुल॰", "अगस्त अग॰", "सितंबर सित॰",
        "अक्टूबर अक्टू॰", "नवंबर नव॰", "दिसंबर दिस॰",
    ),
    "bn": (
        "জানুয়ারি জানু", "ফেব্রুয়ারি ফেব", "মার্চ", "এপ্রিল এপ্রি", "মে", "জুন", "জুলাই জুল", "আগস্ট আগ",
        "সেপ্টেম্বর সেপ সেপ্ট", "অক্টোবর অক্টো", "নভেম্বর নভে", "ডিসেম্বর ডিসে",
    ),
    "ta": (
        "ஜனவரி ஜன", "பிப்ரவரி பிப்", "மார்ச் மார்", "ஏப்ரல் ஏப்", "மே", "ஜூன்", "ஜூலை", "ஆகஸ்ட் ஆக",
        "செப்டம்பர் செப்", "அக்டோபர் அக்", "நவம்பர் நவ", "டிசம்பர் டிச",
    ),
    "te": (
        "జనవరి జన", "ఫిబ్రవరి ఫిబ్ర", "మార్చి", "ఏప్రిల్ ఏప్రి", "మే", "జూన్", "జులై", "ఆగస్టు ఆగ",
        "సెప్టెంబర్ సెప్టెం", "అక్టోబర్ అక్టో", "నవంబర్ నవం", "డిసెంబర్ డిసెం",
    ),
    "mr": (
        "जानेवारी जाने", "फेब्रुवारी फेब्रु", "मार्च", "एप्रिल एप्रि", "मे", "जून", "जुलै", "ऑगस्ट ऑग",
        "सप्टेंबर सप्टें", "ऑक्टोबर ऑक्टो", "नोव्हेंबर नोव्हें", "डिसेंबर डिसें",
    ),
    "vi": (
        "", "", "", "", "", "", "", "", "", "", "", "",
    ),
    "id": (
        "januari jan", "februari feb", "maret mar", "april apr", "mei", "juni jun", "juli jul", "agustus agu",
        "september sep", "oktober okt", "november nov", "desember des",
    ),
    "nl": (
        "januari jan", "februari feb", "maart mrt", "april apr", "mei", "juni jun", "juli jul", "augustus aug",
        "september sep", "oktober okt", "november nov", "december dec",
    ),
    "pl": (
        "stycznia sty styczeń", "lutego lut luty", "marca mar marzec", "kwietnia kwi kwiecień", "maja maj",
        "czerwca cze czerwiec", "lipca lip lipiec", "sierpnia sie sierpień", "września wrz wrzesień",
        "października paź październik", "listopada lis listopad", "grudnia gru grudzień",
    ),
    "cs": (
        "ledna led leden", "února úno únor", "března bře březen", "dubna dub duben", "května kvě květen",
        "června čvn červen", "července čvc červenec", "srpna srp srpen", "září zář", "října říj říjen",
        "listopadu lis listopad", "prosince pro prosinec",
    ),
    "sk": (
        "januára jan január", "februára feb február", "marca mar marec", "apríla apr apríl", "mája máj", "júna jún",
        "júla júl", "augusta aug august", "septembra sep september", "októbra okt október", "novembra nov november",
        "decembra dec december",
    ),
    "hu": (
        "január jan", "február febr", "március márc", "április ápr", "május máj", "június jún", "július júl",
        "augusztus aug", "szeptember szept", "október okt", "november nov", "december dec",
    ),
    "ro": (
        "ianuarie ian", "februarie feb", "martie mar", "aprilie apr", "mai", "iunie iun", "iulie iul", "august aug",
        "septembrie sept", "octombrie oct", "noiembrie nov", "decembrie dec",
    ),
    "bg": (
        "януари яну", "февруари фев", "март", "април апр", "май", "юни", "юли", "август авг", "септември сеп",
        "октомври окт", "ноември ное", "декември дек",
    ),
    "el": (
        "ιανουαρίου ιαν ιανουάριος", "φεβρουαρίου φεβ φεβρουάριος", "μαρτίου μαρ μάρτιος μάρ",
        "απριλίου απρ απρίλιος", "μαΐου μαΐ μάιος μάι", "ιουνίου ιουν ιούνιος ιούν", "ιουλίου ιουλ ιούλιος ιούλ",
        "αυγούστου αυγ αύγουστος αύγ", "σεπτεμβρίου σεπ σεπτέμβριος", "οκτωβρίου οκτ οκτώβριος",
        "νοεμβρίου νοε νοέμβριος νοέ", "δεκεμβρίου δεκ δεκέμβριος",
    ),
    "sv": (
        "januari jan", "februari feb", "mars", "april apr", "maj", "juni", "juli", "augusti aug", "september sep",
        "oktober okt", "november nov", "december dec",
    ),
    "nb": (
        "januar jan", "februar feb", "mars mar", "april apr", "mai", "juni jun", "juli jul", "august aug",
        "september sep", "oktober okt", "november nov", "desember des",
    ),
    "da": (
        "januar jan", "februar feb", "marts mar", "april apr", "maj", "juni jun", "juli jul", "august aug",
        "september sep", "oktober okt", "november nov", "december dec",
    ),
    "fi": (
        "tammikuuta tammi tammikuu", "helmikuuta helmi helmikuu", "maaliskuuta maalis maaliskuu",
        "huhtikuuta huhti huhtikuu", "toukokuuta touko toukokuu", "kesäkuuta kesä kesäkuu",
        "heinäkuuta heinä heinäkuu", "elokuuta elo elokuu", "syyskuuta syys syyskuu", "lokakuuta loka lokakuu",
        "marraskuuta marras marraskuu", "joulukuuta joulu joulukuu",
    ),
    "lv": (
        "janvāris janv", "februāris febr", "marts", "aprīlis apr", "maijs", "jūnijs jūn", "jūlijs jūl", "augusts aug",
        "septembris sept", "oktobris okt", "novembris nov", "decembris dec",
    ),
    "lt": (
        "sausio saus sausis", "vasario vas vasaris", "kovo kov kovas", "balandžio bal balandis", "gegužės geg gegužė",
        "birželio birž birželis", "liepos liep liepa", "rugpjūčio rugp rugpjūtis", "rugsėjo rugs rugsėjis",
        "spalio spal spalis", "lapkričio lapkr lapkritis", "gruodžio gruod gruodis",
    ),
    "et": (
        "jaanuar jaan", "veebruar veebr", "märts", "aprill apr", "mai", "juuni", "juuli", "august aug",
        "september sept", "oktoober okt", "november nov", "detsember dets",
    ),
    "ca": (
        "de_gener de_gen gener gen", "de_febrer de_febr febrer febr", "de_març març", "d’abril d’abr abril abr",
        "de_maig maig", "de_juny juny", "de_juliol de_jul juliol jul", "d’agost d’ag agost ag",
        "de_setembre de_set setembre set", "d’octubre d’oct octubre oct", "de_novembre de_nov novembre nov",
        "de_desembre de_des desembre des",
    ),
    "hr": (
        "siječnja sij siječanj", "veljače velj veljača", "ožujka ožu ožujak", "travnja tra travanj",
        "svibnja svi svibanj", "lipnja lip lipanj", "srpnja srp srpanj", "kolovoza kol kolovoz", "rujna ruj rujan",
        "listopada lis listopad", "studenoga stu studeni", "prosinca pro prosinac",
    ),
    "sr": (
        "јануар јан", "фебруар феб", "март мар", "април апр", "мај", "јун", "јул", "август авг", "септембар сеп",
        "октобар окт", "новембар нов", "децембар дец",
    ),
    "sl": (
        "januar jan", "februar feb", "marec mar", "april apr", "maj", "junij jun", "julij jul", "avgust avg",
        "september sep", "oktober okt", "november nov", "december dec",
    ),
    "th": (
        "มกราคม มค", "กุมภาพันธ์ กพ", "มีนาคม มีค", "เมษายน เมย", "พฤษภาคม พค", "มิถุนายน มิย", "กรกฎาคม กค",
        "สิงหาคม สค", "กันยายน กย", "ตุลาคม ตค", "พฤศจิกายน พย", "ธันวาคม ธค",
    ),
    "my": (
        "ဇန်နဝါရီ ဇန်", "ဖေဖော်ဝါရီ ဖေ", "မတ်", "ဧပြီ", "မေ", "ဇွန်", "ဇူလိုင် ဇူ", "ဩဂုတ်", "စက်တင်ဘာ စက်",
        "အောက်တိုဘာ အောက်", "နိုဝင်ဘာ နို", "ဒီဇင်ဘာ ဒီ",
    ),
    "ms": (
        "januari jan", "februari feb", "mac", "april apr", "mei", "jun", "julai jul", "ogos ogo", "september sep",
        "oktober okt", "november nov", "disember dis",
    ),
    "gl": (
        "xaneiro", "febreiro", "marzo", "abril", "maio", "xuño", "xullo", "agosto", "setembro", "outubro",
        "novembro", "decembro",
    ),
    "is": (
        "janúar", "febrúar", "mars", "apríl", "maí", "júní", "júlí", "ágúst", "september", "október",
        "nóvember", "desember",
    ),
    "ur": (
        "جنوری", "فروری", "مارچ", "اپریل", "مئی", "جون", "جولائی", "اگست", "ستمبر", "اکتوبر", "نومبر", "دسمبر",
    ),
    "az": (
        "yanvar", "fevral", "mart", "aprel", "may", "iyun", "iyul", "avqust", "sentyabr", "oktyabr", "noyabr",
        "dekabr",
    ),
    "sw": (
        "januari", "februari", "machi", "aprili", "mei", "juni", "julai", "agosti", "septemba", "oktoba",
        "novemba", "desemba",
    ),
    "hy": (
        "հունվարի", "փետրվարի", "մարտի", "ապրիլի", "մայիսի", "հունիսի", "հուլիսի", "օգոստոսի", "սեպտեմբերի",
        "հոկտեմբերի", "նոյեմբերի", "դեկտեմբերի",
    ),
    "ka": (
        "იანვარი", "თებერვალი", "მარტი", "აპრილი", "მაისი", "ივნისი", "ივლისი", "აგვისტო", "სექტემბერი",
        "ოქტომბერი", "ნოემბერი", "დეკემბერი",
    ),
    "kk": (
        "қаңтар", "ақпан", "наурыз", "сәуір", "мамыр", "маусым", "шілде", "тамыз", "қыркүйек", "қазан",
        "қараша", "желтоқсан",
    ),
    "sq": (
        "janar", "shkurt", "mars", "prill", "maj", "qershor", "korrik", "gusht", "shtator", "tetor", "nëntor",
        "dhjetor",
    ),
    "mk": (
        "јануари", "февруари", "март", "април", "мај", "јуни", "јули", "август", "септември", "октомври",
        "ноември", "декември",
    ),
    "be": (
        "студзеня", "лютага", "сакавіка", "красавіка", "мая", "чэрвеня", "ліпеня", "жніўня", "верасня",
        "кастрычніка", "лістапада", "снежня",
    ),
    "eu": (
        "urtarrilaren", "otsailaren", "martxoaren", "apirilaren", "maiatzaren", "ekainaren", "uztailaren",
        "abuztuaren", "irailaren", "urriaren", "azaroaren", "abenduaren",
    ),
    "ml": (
        "ജനുവരി", "ഫെബ്രുവരി", "മാർച്ച്", "ഏപ്രിൽ", "മേയ്", "ജൂൺ", "ജൂലൈ", "ഓഗസ്റ്റ്", "സെപ്റ്റംബർ", "ഒക്ടോബർ",
        "നവംബർ", "ഡിസംബർ",
    ),
    "kn": (
        "ಜನವರಿ", "ಫೆಬ್ರವರಿ", "ಮಾರ್ಚ್", "ಏಪ್ರಿಲ್", "ಮೇ", "ಜೂನ್", "ಜುಲೈ", "ಆಗಸ್ಟ್", "ಸೆಪ್ಟೆಂಬರ್", "ಅಕ್ಟೋಬರ್",
        "ನವೆಂಬರ್", "ಡಿಸೆಂಬರ್",
    ),
    "gu": (
        "જાન્યુઆરી", "ફેબ્રુઆરી", "માર્ચ", "એપ્રિલ", "મે", "જૂન", "જુલાઈ", "ઓગસ્ટ", "સપ્ટેમ્બર", "ઑક્ટોબર",
        "નવેમ્બર", "ડિસેમ્બર",
    ),
    "pa": (
        "ਜਨਵਰੀ", "ਫ਼ਰਵਰੀ", "ਮਾਰਚ", "ਅਪ੍ਰੈਲ", "ਮਈ", "ਜੂਨ", "ਜੁਲਾਈ", "ਅਗਸਤ", "ਸਤੰਬਰ", "ਅਕਤੂਬਰ", "ਨਵੰਬਰ", "ਦਸੰਬਰ",
    ),
}
# fmt: on

#: Weekdays, long and short, all languages together: they are read over, never believed.
WEEKDAYS: Final = words(
    """
    cts pts ahad ahd an
    antradienis ceturtd ceturtdiena chủ_nhật cmt cn cs csütörtök cum cuma cumartesi czw czwartek dc dg
    di dienstag dijous dilluns dim dimanche dimarts dimecres dinsdag dissabte diumenge divendres dj dl do dom
    domenica domingo donderdag donnerstag ds dt dum duminică dv esmaspäev fr fre fredag freitag fri friday gio
    giovedì hétfő isn isnin jeu jeudi joi jue jueves jum jumaat jumat kam kamis ke kedd keskiviikko keskiviikkona
    ketvirtadienis kha khamis kolmapäev kt la lauantai lauantaina laupäev lun lundi lunedì lunes luni lör lördag lør
    lørdag ma maanantai maanantaina maandag man mandag mar mardi martedì martes marți mer mercoledì mercredi mi mie
    miercuri min minggu mittwoch mié miércoles mo mon monday montag mån måndag ne ned nedelja nedeľa nedjelja neděle
    neljapäev niedz niedziela ons onsdag otrd otrdiena paz pazar pazartesi pe penktadienis per perjantai perjantaina
    perşembe pet petak petek pi piatok piektd piektdiena pirmadienis pirmd pirmdiena piątek pn po pon pondelok
    pondělí ponedeljek ponedjeljak poniedziałek pr pt pzt pá pátek péntek pühapäev qua quarta-feira qui quinta-feira
    rab rabu reede sa sab sabato sabtu sal salı sam samedi samstag sat saturday seg segunda-feira sekmadienis sel
    selasa sen senin sestd sestdiena sex sexta-feira sk so sob sobota sonntag sre sreda sri srijeda st streda středa
    su sub subota sun sunday sunnuntai sunnuntaina svētd svētdiena sze szerda szo szombat sáb sábado sâm sâmbătă sön
    söndag søn søndag teisipäev ter terça-feira thu thursday thứ_2 thứ_3 thứ_4 thứ_5 thứ_6 thứ_7 thứ_ba thứ_bảy
    thứ_hai thứ_năm thứ_sáu thứ_tư ti tiistai tiistaina tir tirs tirsdag tis tisdag to tor torek tors torsdag
    torstai torstaina tr trečiadienis trešd trešdiena tue tuesday ut uto utorak utorok vasárnap ven vendredi venerdì
    vie viernes vin vineri vr vrijdag wed wednesday wo woensdag wt wtorek za zaterdag zo zondag çar çarşamba út
    úterý čet četrtek četvrtak čt čtvrtek śr środa šeštadienis št štvrtok δευ δευτέρα κυρ κυριακή πέμ πέμπτη παρ
    παρασκευή σάβ σάββατο τετ τετάρτη τρί τρίτη воскресенье вс вт вторник вівторок нд нед неделя недеља неділя
    пʼятниця пет петак петък пн пон понеделник понедельник понедељак понеділок пт пятница сб середа ср сре среда
    сряда суб суббота субота събота уто уторак чет четвер четверг четвртак четвъртък чт יום_א׳ יום_ב׳ יום_ג׳ יום_ד׳
    יום_ה׳ יום_ו׳ יום_חמישי יום_ראשון יום_רביעי יום_שבת יום_שישי יום_שלישי יום_שני שבת الأحد الأربعاء الاثنين
    الثلاثاء الجمعة الخميس السبت جمعه دوشنبه سه‌شنبه شنبه پنجشنبه چهارشنبه یکشنبه गुरु गुरुवार बुध बुधवार मंगल
    मंगलवार मंगळ मंगळवार रवि रविवार शनि शनिवार शुक्र शुक्रवार सोम सोमवार বুধ বুধবার বৃহস্পতি বৃহস্পতিবার মঙ্গল
    মঙ্গলবার রবি রবিবার শনি শনিবার শুক্র শুক্রবার সোম সোমবার சனி செவ் செவ்வாய் ஞாயி ஞாயிறு திங் திங்கள் புத புதன்
    வியா வியாழன் வெள் வெள்ளி ఆది ఆదివారం గురు గురువారం బుధ బుధవారం మంగళ మంగళవారం శని శనివారం శుక్ర శుక్రవారం సోమ
    సోమవారం จันทร์ พฤหัส พุธ วันจันทร์ วันพฤหัสบดี วันพุธ วันศุกร์ วันอังคาร วันอาทิตย์ วันเสาร์ ศุกร์ อังคาร
    อาทิตย์ เสาร์ ကြာသပတေး စနေ တနင်္ဂနွေ တနင်္လာ ဗုဒ္ဓဟူး သောကြာ အင်္ဂါ
    """
)
