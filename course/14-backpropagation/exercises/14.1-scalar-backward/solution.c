// A number that knows which operation and which numbers it was made from.
//
// A change of the left input of + changes the sum by as much; of *, by the other factor times as much; of relu, by as
// much or not at all. The contributions are added, because a value that is used twice influences the result in two
// ways. That includes x * x, where left and right are the same.

struct value {
    double data;     // the number itself
    double gradient; // how much the result changes per change of this number
    char operation;  // '+', '*', 'r' for relu, or 0 for an input
    struct value *left, *right;
};

// Passes the gradient of v on to the values it was made from.
void backward_step(struct value *v)
{
    if (v->operation == '+') {
        v->left->gradient += v->gradient;
        v->right->gradient += v->gradient;
    } else if (v->operation == '*') {
        v->left->gradient += v->right->data * v->gradient;
        v->right->gradient += v->left->data * v->gradient;
    } else if (v->operation == 'r' && v->data > 0) {
        v->left->gradient += v->gradient;
    }
}
