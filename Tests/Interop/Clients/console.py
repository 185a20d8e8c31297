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


FIND = """((within, words) => [...document.querySelectorAll(within + ' button')].find(
  button => button.textContent === words && button.checkVisibility()))"""
CARD = '[...document.querySelectorAll("dialog details")].find(card => card.querySelector("summary").textContent === arguments[0])'
STAGE = '[...document.querySelectorAll(".stage")].find(stage => stage.querySelector("h3").textContent === arguments[0])'
