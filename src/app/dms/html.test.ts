import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from './html.ts';

test('whatever is set into a page is shown as the text it is', () => {
  const name = `<script>alert("1")</script> & 'sons' \`x\``;
  assert.equal(
    html`<p title="${name}">${name}</p>`.text,
    '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;sons&#39; &#96;x&#96;">' +
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;sons&#39; &#96;x&#96;</p>',
  );
});

test('HTML set into HTML stays HTML, in lists too, and what is not there shows nothing', () => {
  assert.equal(
    html`<ul>${['a', '<'].map((text) => html`<li>${text}</li>`)}</ul>${null}${false}${undefined}${0}`.text,
    '<ul><li>a</li><li>&lt;</li></ul>0',
  );
});

test('an object that merely looks like HTML is none', () => {
  assert.equal(html`<p>${{ text: '<script>' } as never}</p>`.text, '<p></p>');
});
