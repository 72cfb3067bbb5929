"""A plug-in of 2015 and 2016: clients by name, entities, translation, constraints with context."""

from heat.common import exception
from heat.common.i18n import _
from heat.common.i18n import _LI
from heat.engine import attributes
from heat.engine import constraints
from heat.engine import properties
from heat.engine import resource
from heat.engine import support
from zonda.hooks import hookimpl


class NotThere(Exception):
    pass


class Shelf(object):
    """A service of its own, for the test."""

    things = {}

    def __init__(self):
        self.books = self

    def create(self, **args):
        number = 'book-%d' % (len(self.things) + 1)
        self.things[number] = dict(args, polls=0)
        return number

    def get(self, number):
        if number not in self.things:
            raise NotThere(number)
        return Thing(self.things[number])

    def delete(self, number):
        if number not in self.things:
            raise NotThere(number)
        del self.things[number]


class Thing(object):
    def __init__(self, known):
        self.known = known

    def to_dict(self):
        return dict(self.known)


class ShelfClientPlugin(object):
    def client(self):
        return Shelf()

    def ignore_not_found(self, ex):
        if not isinstance(ex, NotThere):
            raise ex

    def find_author(self, name):
        return 'id-of-%s' % name


@hookimpl
def zonda_client_plugins():
    return {'shelf': ShelfClientPlugin}


class Book(resource.Resource):
    """A book on a shelf."""

    support_status = support.SupportStatus(
        status=support.UNSUPPORTED,
        previous_status=support.SupportStatus(version='5.0.0'),
    )
    default_client_name = 'shelf'
    entity = 'books'

    PROPERTIES = (TITLE, AUTHOR, WRITER, PAGES) = ('title', 'author', 'writer', 'pages')
    properties_schema = {
        TITLE: properties.Schema(properties.Schema.STRING, _('Title.'), required=True),
        AUTHOR: properties.Schema(properties.Schema.STRING, _('Author.')),
        WRITER: properties.Schema(
            properties.Schema.STRING,
            _('The old name of author.'),
            support_status=support.SupportStatus(
                status=support.DEPRECATED, message=_('Use author.'), version='5.0.0'
            ),
        ),
        PAGES: properties.Schema(
            properties.Schema.INTEGER,
            _('Pages.'),
            default=100,
            update_allowed=True,
            constraints=[constraints.Range(1)],
        ),
    }
    attributes_schema = {
        'shelf_mark': attributes.Schema(_('Mark.'), type=attributes.Schema.STRING),
        'author': attributes.Schema(_('Author.'), type=attributes.Schema.STRING),
    }

    def translation_rules(self, props):
        return [
            properties.TranslationRule(
                props,
                properties.TranslationRule.REPLACE,
                [self.AUTHOR],
                value_path=[self.WRITER],
            ),
            properties.TranslationRule(
                props,
                properties.TranslationRule.RESOLVE,
                [self.AUTHOR],
                client_plugin=self.client_plugin(),
                finder='find_author',
            ),
        ]

    def handle_create(self):
        args = {k: v for k, v in self.properties.items() if v is not None}
        assert self.WRITER not in args, args
        book = self.client().books.create(**args)
        self.resource_id_set(book)
        return book

    def check_create_complete(self, book):
        known = self.client().things[book]
        known['polls'] += 1
        if known['title'] == 'burnt':
            raise exception.ResourceInError(resource_status='BURNT', status_reason='fire')
        if known['title'] == 'odd':
            raise exception.ResourceUnknownStatus(
                resource_status='ODD', result=_('Book creation failed')
            )
        return known['polls'] > 2

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        self.client().things[self.resource_id].update(prop_diff)

    def handle_check(self):
        self.client().books.get(self.resource_id)

    def needs_replace_failed(self):
        if not self.resource_id:
            return True
        with self.client_plugin().ignore_not_found:
            self.client().books.get(self.resource_id)
            return False
        return True

    def _resolve_attribute(self, name):
        if self.resource_id is None:
            return
        book = self.client().books.get(self.resource_id)
        if name == 'author':
            return book.known.get('author')
        return '%s: %s' % (self.resource_id, book.known['title'])


class Reader(resource.Resource):
    """Signals, metadata, no properties at all."""

    def handle_create(self):
        self.resource_id_set(self.name)

    def handle_signal(self, details=None):
        if not details:
            raise resource.NoActionRequired()

        def merge(new, known):
            return dict(known, **new)

        self.metadata_set({details['page']: 'read'}, merge_metadata=merge)
        return _LI('read')

    def get_reference_id(self):
        return ','.join(sorted(self.metadata_get()))


def resource_mapping():
    return {'Era2016::Book': Book, 'Era2016::Reader': Reader}
