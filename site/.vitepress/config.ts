import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'

/** The copy of docs/ that `npm run docs` makes. */
const docs = join(import.meta.dirname, '../pages')
const readers = ['start', 'build', 'operate', 'understand', 'contribute']

/** The pages of each reader in the order of docs/index.md, which lists every page once. */
const chapters = readFileSync(join(docs, 'index.md'), 'utf8')
  .split('\n## ')
  .slice(1)
  .map((chapter) => ({
    text: chapter.split('\n', 1)[0] ?? '',
    items: [...chapter.matchAll(/^- \[([^\]]+)\]\((\w+\/\w+)\.md\)(?:: (.+))?$/gm)].map(
      ([, text = '', path = '', about = '']) => ({ text, link: `/${path}`, about }),
    ),
  }))

/** The page as Markdown at its own address with `.md`, and the list of all pages for language models. */
function writeMarkdown(outDir: string): void {
  for (const reader of readers)
    for (const name of readdirSync(join(docs, reader))) {
      const target = join(outDir, reader, name)
      mkdirSync(dirname(target), { recursive: true })
      // The build only reports a page that it cannot render.
      if (!readFileSync(target.replace(/\.md$/, '.html'), 'utf8').includes('<h1'))
        throw new Error(`${reader}/${name} is not rendered`)
      writeFileSync(target, readFileSync(join(docs, reader, name)))
    }
  const lines = chapters.flatMap(({ text, items }) => [
    `\n## ${text}\n`,
    ...items.map((item) => `- [${item.text}](${item.link}.md)${item.about && `: ${item.about}`}`),
  ])
  const head =
    '# Purser\n\n> Self-hosted gasless transactions: an ERC-4337 bundler, a paymaster with spending policies, and a console.\n'
  writeFileSync(join(outDir, 'llms.txt'), `${head}${lines.join('\n')}\n`)
}

/** Where a link of a page to a file outside of docs/ leads on the site. */
function outside(href: string): string {
  const repository = process.env.PURSER_REPOSITORY ?? ''
  return repository === '' ? '/' : `${repository}/blob/main/${href.replace(/^(\.\.\/)+/, '')}`
}

export default defineConfig({
  title: 'Purser',
  description: 'Self-hosted gasless transactions: bundler, paymaster and console',
  srcDir: 'pages',
  outDir: 'dist',
  cleanUrls: true,
  appearance: true,
  themeConfig: {
    search: { provider: 'local' },
    sidebar: chapters,
    outline: [2, 3],
    nav: readers.map((reader, index) => ({
      text: reader.slice(0, 1).toUpperCase() + reader.slice(1),
      link: chapters[index]?.items[0]?.link ?? '/',
      activeMatch: `^/${reader}/`,
    })),
  },
  markdown: {
    config(md) {
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const { info, content } = tokens[index] ?? { info: '', content: '' }
        if (info.trim() === 'mermaid') return `<Diagram source="${encodeURIComponent(content)}" />`
        return fence?.(tokens, index, options, env, self) ?? ''
      }
      // Code such as ${{Postgres.DATABASE_URL}} is text, not an expression of the site.
      const code = md.renderer.rules.code_inline
      md.renderer.rules.code_inline = (...args) =>
        code?.(...args).replace('<code', '<code v-pre') ?? ''
      md.core.ruler.push('outside', ({ tokens }) => {
        for (const token of tokens)
          for (const child of token.children ?? []) {
            const href = child.attrGet('href')
            if (href !== null && /^(\.\.\/)+(?:[A-Z]|bench\/|examples\/|test\/)/.test(href))
              child.attrSet('href', outside(href))
          }
      })
    },
  },
  buildEnd: ({ outDir }) => writeMarkdown(outDir),
})
