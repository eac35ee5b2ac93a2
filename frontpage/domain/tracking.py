"""Which query parameters say only how a reader came, never which article.

A parameter is here when it is documented by the tool that adds it (campaign tools, social networks, newsletters).
Names that some site somewhere uses to choose an article (`id`, `p`, `page`, `ref` with an unknown value) are not.
"""

from __future__ import annotations

import re
from typing import Final

from frontpage.domain.wordlists import words

_NAMES: Final = words(
    """
    fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid ysclid twclid ttclid li_fat_id igshid igsh mc_cid mc_eid
    _ga _gl _gac _branch_match_id _branch_referrer __twitter_impression cmpid cmp ocid icid ncid ito xtor wt_mc
    wt_zmc wt.mc_id wt.nav wt.tsrc mkt_tok s_cid s_kwcid smid smtyp sref spm scm guccounter guce_referrer
    guce_referrer_sig ftag sr_share srsltid hsctatracking _hsenc _hsmi __hstc __hssc __hsfp vero_id vero_conv
    oly_anon_id oly_enc_id rb_clickid wickedid cndid taid tpcc tblci ceid fb_action_ids fb_action_types fb_source
    fb_ref action_object_map action_type_map action_ref_map campaign_id emci emdi ref_src ref_url trk trkinfo
    sc_campaign sc_channel sc_content sc_country sc_geo sc_medium sc_outcome soc_src soc_trk asc_source asc_campaign
    amp_js_v usqp amp_gsa amp_ct traffic_source ns_mchannel ns_source ns_campaign ns_linkname ns_fee intcmp intcid
    itid zanpid kwp_0 echobox dm_i elqtrackid elqtrack dicbo nx_source wprov feed_id xtcr cx_source feedsource
    sharetype phpsessid cfid cftoken isappinstalled
    """
)
_PREFIXES: Final = ("utm_", "at_campaign", "at_medium", "at_custom", "at_link", "at_ptr", "at_bbc", "at_format",
             "pk_", "mtm_", "piwik_", "matomo_", "hmb_", "itm_", "stm_", "ga_", "hsa_", "ml_subscriber",
             "trk_", "aspsessionid", "__cf_chl_")  # fmt: skip
#: These may choose an article, except when their value is one of a channel.
_CHANNEL_NAMES: Final = words("ref src source from via referrer feed share channel partner origin medium emc mbid")
_CHANNEL_VALUES: Final = re.compile(
    r"(?:rss(?:[_-]?feed)?|feeds?|atom|sitemap|newsletter|e?-?mail|facebook|fb|twitter|tw|x|linkedin|whatsapp|telegram|"
    r"reddit|flipboard|smartnews|upday|googlenews|google_news|applenews|apple_news|push|share|social(?:_[a-z]+)?|homepage|home|"
    r"groupmessage|singlemessage|timeline)",
    re.IGNORECASE,
)
#: Rules kept per registrable host: names that track on that site only.
_PER_HOST: Final = {
    "youtube.com": frozenset({"feature", "si", "pp", "ab_channel"}),
    "spiegel.de": frozenset({"sara_ref"}),
    "nytimes.com": frozenset({"partner", "emc", "rref", "hp", "login", "unlocked_article_code", "referringsource"}),
    "lemonde.fr": frozenset({"lmd_medium", "lmd_campaign", "lmd_creation", "lmd_source"}),
}


def tracking_reason(name: str, value: str, host: str) -> str | None:
    """Why this parameter is no part of the article's identity, or None when it may be."""
    lowered = name.lower()
    if lowered in _NAMES or lowered.startswith(_PREFIXES):
        return "tracking: campaign parameter"
    if lowered in _CHANNEL_NAMES and _CHANNEL_VALUES.fullmatch(value):
        return "tracking: names the channel"
    for domain, names in _PER_HOST.items():
        if lowered in names and (host == domain or host.endswith("." + domain)):
            return "tracking: rule for " + domain
    return None
