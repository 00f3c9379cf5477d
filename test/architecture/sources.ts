import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import ts from 'typescript'
import { type ModuleName, modules } from './modules.js'

export type Import = {
  /** Below `src/`, or the name of a package. */
  readonly target: string
  readonly isType: boolean
}

export type Source = {
  /** Below `src/`. */
  readonly path: string
  readonly tree: ts.SourceFile
  readonly imports: readonly Import[]
}

const root = resolve('src')

/** Every file of `src/` that is not a test, parsed; or, with `.test.ts`, every test there. */
export function readSources(kind: '.ts' | '.test.ts' = '.ts'): readonly Source[] {
  const isWanted = (path: string) => path.endsWith('.test.ts') === (kind === '.test.ts')
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && isWanted(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
      return { path, tree, imports: importsOf(path, tree) }
    })
}

/** The module that a file lies in: its folder at the top of `src/`. */
export function moduleOf(path: string): ModuleName {
  return modules.find(([name]) => path.startsWith(`${name}/`))?.[0] ?? '.'
}

/** Whether other modules may import `path`: it lies at the top of its module or in a public folder of it. */
export function isPublic(path: string): boolean {
  const folder = dirname(path)
  return modules.some(
    ([name, , folders]) =>
      folder === name || folders.some((each: string) => folder === `${name}/${each}`),
  )
}

/** Calls `visit` for `node` and everything inside it. */
export function visitAll(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  ts.forEachChild(node, (child) => visitAll(child, visit))
}

function importsOf(path: string, tree: ts.SourceFile): Import[] {
  const imports: Import[] = []
  const add = (specifier: ts.Node | undefined, isType: boolean) => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return
    const { text } = specifier
    const target = text.startsWith('.')
      ? normalize(join(dirname(path), text)).replace(/\.js$/, '.ts')
      : text
    imports.push({ target, isType })
  }
  visitAll(tree, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node)) add((node.argument as ts.LiteralTypeNode).literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false)
    }
  })
  return imports
}

/** Whether an import leaves no trace in what is compiled. */
function isTypeOnly({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false
  if (importClause.isTypeOnly) return true
  const { name, namedBindings } = importClause
  if (name !== undefined || namedBindings === undefined) return false
  return ts.isNamedImports(namedBindings) && namedBindings.elements.every((each) => each.isTypeOnly)
}
