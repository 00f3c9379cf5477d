import { defineConfig } from 'vite'

/** Browsers of 2024 and later: they have `light-dark()`, popovers and nesting. */
const target = ['chrome123', 'firefox128', 'safari17.5']

export default defineConfig({
  // Addresses are relative to the tag <base>, which the service sets: the console may lie below any path.
  base: './',
  // The dialect of JSX is compiled by vite itself.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target,
    cssTarget: target,
    // The polyfill would be a script in the page.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What several screens use comes with the first view: twenty small files would each be a request.
          groups: [{ name: 'shared', test: /\/console\/src\/(api|parts)\//, minShareCount: 2 }],
        },
      },
    },
    license: { fileName: 'notices.md' },
  },
})
