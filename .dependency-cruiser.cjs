// Who may import whom. Type-only imports count.

const inModule = (files) => `^src/modules/[^/]+/(${files})\\.ts$`;
const library = (names) => `^node_modules/(@types/)?(${names})/`;
const rule = (name, from, to) => ({ name, severity: 'error', from, to });

/** What is data alone: the contract, and the files a large one is divided into. */
const data = 'contract|codes|lists|[a-z-]*shapes';

module.exports = {
  forbidden: [
    rule('no-cycles', {}, { circular: true }),

    // bin → app → modules → platform
    rule('platform-knows-nothing-above', { path: '^src/platform/' }, { path: '^src/(modules|websites|app|bin)/' }),
    rule('modules-know-nothing-above', { path: '^src/modules/' }, { path: '^src/(websites|app|bin)/' }),
    rule('app-knows-nothing-above', { path: '^src/app/' }, { path: '^src/bin/' }),

    // Between modules: faces and contracts. Inside one: the order of its files.
    rule(
      'modules-by-their-face',
      { path: '^src/modules/([^/]+)/' },
      { path: '^src/modules/', pathNot: ['^src/modules/$1/', inModule('index|contract')] },
    ),
    rule(
      'contract-is-data',
      { path: inModule(data) },
      { pathNot: ['^src/platform/(contract|errors)\\.ts$', inModule(data), library('zod')] },
    ),
    rule(
      'rules-are-pure',
      { path: inModule('rules') },
      { pathNot: ['^src/platform/(contract|errors|dates|money|reach|records)\\.ts$', inModule(data), '^(node:)?util$'] },
    ),
    rule(
      'queries-decide-nothing',
      { path: inModule('[a-z-]*queries') },
      { path: [inModule('rules|commands|routes|staff-routes|tools|jobs'), '^src/platform/(http|mcp|jobs|mail)/'] },
    ),
    rule(
      'views-ask-nothing',
      { path: inModule('view') },
      {
        path: [inModule('commands|routes|staff-routes|tools|jobs'), '^src/platform/(db|http|mcp|jobs|mail)/'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'only-routes-speak-http',
      { path: '^src/modules/', pathNot: inModule('routes|staff-routes') },
      { path: ['^src/platform/http/', inModule('routes|staff-routes')] },
    ),
    rule(
      'only-tools-speak-mcp',
      { path: '^src/modules/', pathNot: inModule('tools') },
      { path: ['^src/platform/mcp/', inModule('tools')] },
    ),

    // Each library behind its one door.
    rule('sql-behind-queries', { path: '^src/', pathNot: ['^src/platform/', inModule('[a-z-]*queries')] }, { path: library('kysely|pg') }),
    rule('fastify-behind-http', { path: '^src/', pathNot: ['^src/platform/http/', '^src/app/api\\.ts$'] }, { path: library('fastify') }),
    rule('phone-numbers-behind-phone', { path: '^src/', pathNot: '^src/platform/phone\\.ts$' }, { path: library('libphonenumber-js') }),
    rule('pictures-behind-files', { path: '^src/', pathNot: '^src/platform/files/' }, { path: library('sharp|aws4fetch') }),
    rule('documents-behind-pdf', { path: '^src/', pathNot: '^src/platform/pdf/' }, { path: library('pdfkit|dejavu-fonts-ttf') }),
    rule('calls-behind-net', { path: '^src/', pathNot: '^src/platform/net/' }, { path: library('undici|ipaddr\\.js') }),
    rule('uploads-behind-http', { path: '^src/', pathNot: '^src/platform/http/' }, { path: library('@fastify/busboy') }),
    rule('letters-behind-mail', { path: '^src/', pathNot: '^src/platform/mail/' }, { path: library('nodemailer') }),
    rule('queue-behind-jobs', { path: '^src/', pathNot: '^src/platform/jobs/' }, { path: library('pg-boss') }),

    rule('imports-are-installed', { path: '^src/' }, { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'] }),
    rule('imports-are-found', {}, { couldNotResolve: true }),
    // A face may wait for somebody to ask.
    rule(
      'nothing-is-left-over',
      { path: '^src/bin/' },
      { path: '^src/(app|modules|platform)/', pathNot: inModule('index'), reachable: false },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    exclude: { path: '\\.test\\.ts$' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
