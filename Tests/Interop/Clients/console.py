"""The console in headless Chromium, as the scripts beside this one drive it."""
import json

import webdriver

# Roles of what somebody may act on, or has to know the meaning of.
NAMED = {
    'button', 'textbox', 'combobox', 'checkbox', 'spinbutton', 'link', 'dialog', 'image', 'img', 'DisclosureTriangle', 'heading', 'list',
    'region', 'table',
}


def expect(condition, words):
    if not condition:
        raise SystemExit('FAULT: ' + words)
    print('seen:', words, flush=True)


class Console:
    """One page of the console. Elements are told by CSS selectors, buttons by their words."""

    def __init__(self, browser, admin):
        (self.browser, self.admin) = (browser, admin)

    def sign_in(self, key, secret):
        browser = self.browser
        browser.open(self.admin + '/')
        browser.wait('form to sign in', '!document.querySelector("#sign-in").hidden')
        browser.fill('#access-key', key + webdriver.TAB + secret + webdriver.ENTER)
        browser.wait('overview', 'document.querySelectorAll("#overview:not([hidden]) .tile").length')

    def press(self, words, within='body'):
        """Presses the first button of these words that is to be seen, with the keyboard."""
        self.browser.wait('button "%s"' % words, FIND + '(arguments[0], arguments[1])', within, words)
        self.browser.run('(%s)(arguments[0], arguments[1]).focus()' % FIND, within, words)
        self.browser.keys(webdriver.ENTER)

    def fill(self, name, text):
        self.browser.wait('field ' + name, 'document.getElementById(arguments[0])', 'ask-' + name)
        self.browser.run('document.getElementById(arguments[0]).value = ""', 'ask-' + name)
        self.browser.fill('#ask-' + name, text)

    def choose(self, name, value):
        self.browser.run('document.getElementById(arguments[0]).value = arguments[1]', 'ask-' + name, value)

    def answer(self):
        """Carries out what a dialog asks."""
        self.browser.click('#ask-yes')
        self.browser.wait('end of the question', '!document.querySelector("#ask")')

    def card(self, title):
        """Opens a card of the sheet, and answers with the text of its first field once it is there."""
        self.browser.wait('card ' + title, CARD, title)
        self.browser.run('(%s).open = true' % CARD, title)
        self.browser.wait('field of ' + title, '(%s).querySelector("input, textarea")' % CARD, title)
        return self.browser.run('return (%s).querySelector("input, textarea").value' % CARD, title)

    def close_sheet(self):
        self.press('Done', 'dialog')
        self.browser.wait('end of the sheet', '!document.querySelector("dialog")')

    def stage(self, name):
        """A selector of the stage's section."""
        self.browser.wait('stage ' + name, STAGE, name)
        return '#stage-list > [data-key="%s"]' % self.browser.run('return (%s).dataset.key' % STAGE, name)

    def is_within(self, width):
        """Whether nothing of the page, or of a dialog, has to be scrolled sideways."""
        return self.browser.run(
            'return [document.documentElement, ...document.querySelectorAll("dialog")].every('
            'each => each.scrollWidth <= Math.min(each.clientWidth, arguments[0]))', width)

    def nameless(self):
        """Elements of the accessibility tree that a screen reader could only call by their kind."""
        nodes = self.browser.devtools('Accessibility.getFullAXTree')['nodes']
        shown = [node for node in nodes if not node['ignored'] and node.get('role', {}).get('value') in NAMED]
        if len(shown) < 3:
            raise SystemExit('FAULT: no accessibility tree')
        return [json.dumps(node)[:300] for node in shown if not node.get('name', {}).get('value')]

    def check(self, what, within='body'):
        """That something suits phones and desktops, the light and the dark, and screen readers."""
        browser = self.browser
        browser.wait('calm', 'document.getAnimations().length === 0')
        for scheme in ('light', 'dark'):
            browser.prefer(scheme)
            browser.wait('calm', 'document.getAnimations().length === 0')
            faint = browser.run(FAINT, within)
            expect(not faint, '%s is readable in the %s%s' % (what, scheme, ': %s' % faint if faint else ''))
        for width in (320, 390, 1100):
            browser.resize(width, 760, phone=width < 600)
            expect(self.is_within(width), '%s fits into %d pixels' % (what, width))
        nameless = self.nameless()
        expect(not nameless, '%s has a name for every control%s' % (what, nameless or ''))


# Texts whose contrast is below 4.5 : 1 (WCAG 2.2, 1.4.3), with the ratio; half-transparent grounds are laid over what is behind.
FAINT = """
const parts = colour => { const p = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  p.fillStyle = colour; p.fillRect(0, 0, 1, 1); const [r, g, b, a] = p.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
const over = (top, ground) => [0, 1, 2].map(i => top[i] * top[3] + ground[i] * (1 - top[3]));
const ground = element => { if (!element) return [255, 255, 255];
  const own = parts(getComputedStyle(element).backgroundColor); return own[3] === 1 ? own.slice(0, 3) : over(own, ground(element.parentElement)); };
const light = colour => colour.map(value => value / 255).map(value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
  .reduce((sum, value, i) => sum + value * [.2126, .7152, .0722][i], 0);
const ratio = element => { const back = ground(element);
  const [a, b] = [light(over(parts(getComputedStyle(element).color), back)), light(back)]; return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
return [...document.querySelectorAll(arguments[0] + ' *')]
  .filter(e => e.checkVisibility() && !e.matches('option, svg *, button:disabled') && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
  .filter(e => ratio(e) < 4.5).map(e => `${e.tagName}.${e.className} "${e.textContent.slice(0, 30)}" ${ratio(e).toFixed(2)}`);
"""
FIND = """((within, words) => [...document.querySelectorAll(within + ' button')].find(
  button => button.textContent === words && button.checkVisibility()))"""
CARD = '[...document.querySelectorAll("dialog details")].find(card => card.querySelector("summary").textContent === arguments[0])'
STAGE = '[...document.querySelectorAll(".stage")].find(stage => stage.querySelector("h3").textContent === arguments[0])'
