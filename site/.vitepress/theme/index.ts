import DefaultTheme from 'vitepress/theme'
import Diagram from './Diagram.vue'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }: { app: { component: (name: string, component: unknown) => void } }) {
    app.component('Diagram', Diagram)
  },
}
